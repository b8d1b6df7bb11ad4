import type { Signal } from '@preact/signals'
import { texts } from '../texts/texts.ts'

export interface EmailFieldProps {
  readonly value: Signal<string>
  readonly hint: string
}

export function EmailField({ value, hint }: EmailFieldProps) {
  return (
    <label class="field">
      <span>{texts.value.signIn.email}</span>
      <input
        type="email"
        required
        autocomplete="email"
        value={value.value}
        onInput={({ currentTarget }) => {
          value.value = currentTarget.value
        }}
      />
      <small>{hint}</small>
    </label>
  )
}
