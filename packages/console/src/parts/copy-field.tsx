import { CopyButton } from './copy-button.tsx'

export interface CopyFieldProps {
  readonly label: string
  readonly value: string
}

/** A value that is copied rather than read, with its name. It can be selected, and its end is shown where it is long. */
export function CopyField({ label, value }: CopyFieldProps) {
  return (
    <div class="copy-field">
      <dt>{label}</dt>
      <dd>
        <code title={value}>{value}</code>
        <CopyButton text={value} what={label} />
      </dd>
    </div>
  )
}
