import type { SignupResult } from '@lade/client'
import { useSignal } from '@preact/signals'
import { openClient } from '../app/client.ts'
import { session } from '../app/session.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { Notice } from '../parts/notice.tsx'
import { useStep } from '../parts/use-step.ts'
import { texts } from '../texts/texts.ts'

const TERM_DAYS = [7, 30, 90, 365]
/** What a new token may do when nothing else is chosen: all but what the session itself may not. */
type Scope = NonNullable<SignupResult['scopes']>[number]
const SCOPES: readonly Scope[] = ['put', 'get', 'list', 'pin']

/** Makes a token, which is shown once. */
export function NewToken({ onMade }: { readonly onMade: () => Promise<void> }) {
  const made = useSignal<SignupResult | undefined>(undefined)
  const { tokens: words } = texts.value
  const email = session.value?.email
  if (email == null) {
    return (
      <Notice kind="plain">
        <p>{words.noEmail}</p>
      </Notice>
    )
  }
  const shown = made.value
  if (shown === undefined) {
    return (
      <TokenForm
        email={email}
        onMade={async (result) => {
          made.value = result
          await onMade()
        }}
      />
    )
  }
  return (
    <section class="panel panel-marked" aria-labelledby="new-token">
      <div class="panel-head">
        <h2 id="new-token">{words.made}</h2>
      </div>
      <div class="panel-body new-token">
        <p role="status">{words.madeHint}</p>
        <code class="secret">{shown.token}</code>
        <div class="panel-actions">
          <CopyButton text={shown.token} what={words.token} label={words.copy} kind="primary" />
          <button
            type="button"
            class="button button-plain"
            onClick={() => {
              made.value = undefined
            }}
          >
            {words.done}
          </button>
        </div>
      </div>
    </section>
  )
}

interface TokenFormProps {
  readonly email: string
  readonly onMade: (made: SignupResult) => Promise<void>
}

function TokenForm({ email, onMade }: TokenFormProps) {
  const label = useSignal('')
  const scopes = useSignal<readonly string[]>(SCOPES)
  const quotaMb = useSignal('')
  const days = useSignal(365)
  const step = useStep()
  const { tokens: words } = texts.value
  const allowed = SCOPES.filter((scope) => session.value?.scopes.includes(scope))
  const make = async () => {
    const client = await openClient(true)
    await onMade(
      await client.signup({
        email,
        label: label.value,
        scopes: allowed.filter((scope) => scopes.value.includes(scope)),
        ttlDays: days.value,
        ...(quotaMb.value !== '' && { quotaMb: Number(quotaMb.value) }),
      }),
    )
  }
  return (
    <section class="panel" aria-labelledby="make-token">
      <div class="panel-head">
        <h2 id="make-token">{words.make}</h2>
      </div>
      <form
        class="panel-body token-form"
        onSubmit={(event) => {
          event.preventDefault()
          void step.run(make)
        }}
      >
        <label class="field">
          <span>{words.label}</span>
          <input
            required
            maxLength={100}
            placeholder={words.labelExample}
            value={label.value}
            onInput={({ currentTarget: { value } }) => {
              label.value = value
            }}
          />
        </label>
        <label class="field">
          <span>{words.term}</span>
          <select
            value={String(days.value)}
            onChange={({ currentTarget: { value } }) => {
              days.value = Number(value)
            }}
          >
            {TERM_DAYS.map((one) => (
              <option key={one} value={String(one)}>
                {texts.value.files.days(one)}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          <span>{words.quota}</span>
          <input
            type="number"
            min={0}
            placeholder={words.quotaAll}
            value={quotaMb.value}
            onInput={({ currentTarget: { value } }) => {
              quotaMb.value = value
            }}
          />
        </label>
        <fieldset class="scopes">
          <legend class="field-label">{words.scopes}</legend>
          {allowed.map((scope) => (
            <label key={scope} class="choice">
              <input
                type="checkbox"
                checked={scopes.value.includes(scope)}
                onChange={({ currentTarget: { checked } }) => {
                  scopes.value = checked ? [...scopes.value, scope] : scopes.value.filter((one) => one !== scope)
                }}
              />
              <span>
                <strong>{scope}</strong> <small>{words.scopeHints[scope]}</small>
              </span>
            </label>
          ))}
        </fieldset>
        {step.problem.value !== undefined && (
          <Notice kind="bad">
            <p>{step.problem.value}</p>
          </Notice>
        )}
        <button type="submit" class="button button-primary" aria-disabled={step.isRunning.value}>
          {words.makeIt}
        </button>
      </form>
    </section>
  )
}
