import { type Signal, useSignal } from '@preact/signals'
import { Notice } from '../parts/notice.tsx'
import { useStep } from '../parts/use-step.ts'
import { adminTexts } from '../texts/admin-texts.ts'

export interface BlockFormProps {
  readonly title: string
  /** What happens. */
  readonly hint: string
  /** What can be done as well, and whether it is to be. */
  readonly option: string
  readonly isChosen: Signal<boolean>
  /** @returns what to say when it is done. */
  readonly onBlock: (reason: string) => Promise<string>
}

/** Asks for a reason, and blocks something. */
export function BlockForm({ title, hint, option, isChosen, onBlock }: BlockFormProps) {
  const reason = useSignal('')
  const done = useSignal<string | undefined>(undefined)
  const step = useStep()
  const words = adminTexts.value
  return (
    <section class="sheet-part" aria-label={title}>
      <h3>{title}</h3>
      <p class="soft">{hint}</p>
      <form
        class="admin-form"
        onSubmit={(event) => {
          event.preventDefault()
          done.value = undefined
          void step.run(async () => {
            done.value = await onBlock(reason.value)
          })
        }}
      >
        <label class="field">
          <span>{words.reason}</span>
          <input
            required
            maxLength={500}
            value={reason.value}
            onInput={({ currentTarget }) => {
              reason.value = currentTarget.value
            }}
          />
        </label>
        <label class="choice">
          <input
            type="checkbox"
            checked={isChosen.value}
            onChange={({ currentTarget }) => {
              isChosen.value = currentTarget.checked
            }}
          />
          <span>{option}</span>
        </label>
        <div class="dialog-actions">
          <span role="status">{done.value}</span>
          <button type="submit" class="button button-danger" aria-disabled={step.isRunning.value}>
            {words.block}
          </button>
        </div>
        {step.problem.value !== undefined && (
          <Notice kind="bad">
            <p>{step.problem.value}</p>
          </Notice>
        )}
      </form>
    </section>
  )
}
