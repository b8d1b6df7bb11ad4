import type { StartResult } from '@lade/core/wire'
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { api } from '../app/api.ts'
import { signIn } from '../app/session.ts'
import { useStep } from '../parts/use-step.ts'
import { texts } from '../texts/texts.ts'
import { EmailField } from './email-field.tsx'
import { StepForm } from './step-form.tsx'

/** How the code is listed among the tokens until it is used. */
const LABEL = 'console'

/** An address, then the code that was mailed to it. */
export function CodeForm() {
  const email = useSignal('')
  const code = useSignal('')
  const challenge = useSignal<string | undefined>(undefined)
  const field = useRef<HTMLInputElement>(null)
  const step = useStep()
  const { app, signIn: words } = texts.value
  const begun = challenge.value
  useEffect(() => {
    if (begun !== undefined) field.current?.focus()
  }, [begun])
  const start = async () => {
    const json = { email: email.value, label: LABEL }
    challenge.value = (await api<StartResult>('/api/auth/start', { method: 'POST', json })).challenge
  }
  if (begun === undefined) {
    return (
      <StepForm step={step} action={words.sendCode} onSubmit={start}>
        <EmailField value={email} hint={words.codeHint} />
      </StepForm>
    )
  }
  return (
    <StepForm step={step} action={app.signIn} onSubmit={() => signIn({ challenge: begun, code: code.value })}>
      <p role="status">{words.codeSent(email.value)}</p>
      <label class="field">
        <span>{words.code}</span>
        <input
          ref={field}
          class="code"
          required
          inputMode="numeric"
          autocomplete="one-time-code"
          value={code.value}
          onInput={({ currentTarget }) => {
            code.value = currentTarget.value
          }}
        />
      </label>
      <button
        type="button"
        class="link"
        onClick={() => {
          challenge.value = undefined
          code.value = ''
          step.problem.value = undefined
        }}
      >
        {words.otherEmail}
      </button>
    </StepForm>
  )
}
