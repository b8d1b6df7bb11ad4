import type { AdminPrincipal } from '@lade/client'
import { useSignal } from '@preact/signals'
import { openClient } from '../app/client.ts'
import { Notice } from '../parts/notice.tsx'
import { useStep } from '../parts/use-step.ts'
import { adminTexts } from '../texts/admin-texts.ts'

const MB = 1_048_576

export interface LimitsFormProps {
  readonly caller: AdminPrincipal
  readonly onSaved: () => Promise<void>
}

/** The daily quota and the stored limit of one caller. An empty field is the limit of the tier. */
export function LimitsForm({ caller: { principal, limits }, onSaved }: LimitsFormProps) {
  const daily = useSignal(textOf(limits.dailyBytes))
  const stored = useSignal(textOf(limits.storedBytes))
  const isSaved = useSignal(false)
  const step = useStep()
  const words = adminTexts.value
  const save = async () => {
    isSaved.value = false
    const { admin } = await openClient(true)
    await admin.setLimits(principal, { dailyMb: megabytesOf(daily.value), storedMb: megabytesOf(stored.value) })
    await onSaved()
    isSaved.value = true
  }
  const fields = [
    [words.daily, daily],
    [words.storedLimit, stored],
  ] as const
  return (
    <section class="sheet-part" aria-label={words.setLimits}>
      <h3>{words.setLimits}</h3>
      <p class="soft">{words.limitsHint}</p>
      <form
        class="admin-form"
        onSubmit={(event) => {
          event.preventDefault()
          void step.run(save)
        }}
      >
        <div class="field-pair">
          {fields.map(([label, value]) => (
            <label key={label} class="field">
              <span>{label}</span>
              <input
                type="number"
                min={0}
                placeholder={words.ofTier}
                value={value.value}
                onInput={({ currentTarget }) => {
                  value.value = currentTarget.value
                }}
              />
            </label>
          ))}
        </div>
        <div class="dialog-actions">
          <span role="status">{isSaved.value && words.saved}</span>
          <button type="submit" class="button button-plain" aria-disabled={step.isRunning.value}>
            {words.save}
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

function textOf(bytes: number | null): string {
  return bytes === null ? '' : String(bytes / MB)
}

function megabytesOf(text: string): number | null {
  return text === '' ? null : Number(text)
}
