import { useRef } from 'preact/hooks'
import { signIn } from '../app/session.ts'
import { useStep } from '../parts/use-step.ts'
import { texts } from '../texts/texts.ts'
import { StepForm } from './step-form.tsx'

/** A token that somebody has. It is in the field alone, and leaves it as soon as the session is there. */
export function TokenForm() {
  const field = useRef<HTMLInputElement>(null)
  const step = useStep()
  const { app, signIn: words } = texts.value
  const send = async () => {
    const token = field.current?.value.trim() ?? ''
    await signIn({ token })
    if (field.current !== null) field.current.value = ''
  }
  return (
    <StepForm step={step} action={app.signIn} onSubmit={send}>
      <label class="field">
        <span>{words.token}</span>
        <input ref={field} type="password" required autocomplete="off" spellcheck={false} />
        <small>{words.tokenHint}</small>
      </label>
    </StepForm>
  )
}
