import { daysOf } from '../app/amounts.ts'
import { info } from '../app/service-info.ts'
import { texts } from '../texts/texts.ts'
import { wishes } from './put-upload.ts'

const TERMS = [1, 7, 30, 90, 365]

/** How files are kept that are uploaded with an account. */
export function KeepingChoices() {
  const { drop } = texts.value
  const { tiers, maxTermDays } = info.value ?? {}
  if (tiers === undefined || maxTermDays === undefined) return null
  const { isPrivate, termDays } = wishes.value
  const defaultDays = tiers.token.termDays
  const terms = TERMS.filter((days) => days !== defaultDays && days <= maxTermDays)
  return (
    <fieldset class="choices">
      <legend class="hidden">{drop.keep}</legend>
      <label class="choice">
        <span>{drop.term}</span>
        <select
          value={termDays === undefined ? '' : String(termDays)}
          onChange={({ currentTarget: { value } }) => {
            wishes.value = { isPrivate, termDays: value === '' ? undefined : Number(value) }
          }}
        >
          <option value="">{drop.termDefault(daysOf(defaultDays))}</option>
          {terms.map((days) => (
            <option key={days} value={String(days)}>
              {daysOf(days)}
            </option>
          ))}
        </select>
      </label>
      <label class="choice choice-check">
        <input
          type="checkbox"
          checked={isPrivate}
          onChange={({ currentTarget: { checked } }) => {
            wishes.value = { isPrivate: checked, termDays }
          }}
        />
        <span>
          {drop.private} <small>{drop.privateHint}</small>
        </span>
      </label>
    </fieldset>
  )
}
