import type { ComponentChildren } from 'preact'
import { Notice } from '../parts/notice.tsx'
import type { useStep } from '../parts/use-step.ts'

export interface StepFormProps {
  readonly step: ReturnType<typeof useStep>
  readonly action: string
  readonly onSubmit: () => Promise<void>
  readonly children: ComponentChildren
}

/** A form with one action, which says what was refused. */
export function StepForm({ step, action, onSubmit, children }: StepFormProps) {
  return (
    <form
      class="sign-in-form"
      onSubmit={(event) => {
        event.preventDefault()
        void step.run(onSubmit)
      }}
    >
      {children}
      {step.problem.value !== undefined && (
        <Notice kind="bad">
          <p>{step.problem.value}</p>
        </Notice>
      )}
      <button type="submit" class="button button-primary" aria-disabled={step.isRunning.value}>
        {action}
      </button>
    </form>
  )
}
