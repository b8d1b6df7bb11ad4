import { useSignal } from '@preact/signals'
import { signIn } from '../app/session.ts'
import { useStep } from '../parts/use-step.ts'
import { texts } from '../texts/texts.ts'
import { EmailField } from './email-field.tsx'
import { StepForm } from './step-form.tsx'

/** An address alone, which a service with open signup takes. */
export function EmailForm() {
  const email = useSignal('')
  const step = useStep()
  const { app, signIn: words } = texts.value
  return (
    <StepForm step={step} action={app.signIn} onSubmit={() => signIn({ email: email.value })}>
      <EmailField value={email} hint={words.emailHint} />
    </StepForm>
  )
}
