export interface ProgressBarProps {
  readonly label: string
  readonly total: number
  /** What is hashed, drawn behind what is sent. */
  readonly prepared?: number
  readonly done: number
  /** Said in place of the percentage. */
  readonly text?: string | undefined
}

/** How far something is. */
export function ProgressBar({ label, total, prepared = 0, done, text }: ProgressBarProps) {
  const shareOf = (value: number) => (total === 0 ? 0 : Math.min(100, (100 * value) / total))
  return (
    <div
      class="bar"
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(shareOf(done))}
      aria-valuetext={text}
    >
      <div class="bar-prepared" style={{ inlineSize: `${shareOf(prepared)}%` }} />
      <div class="bar-done" style={{ inlineSize: `${shareOf(done)}%` }} />
    </div>
  )
}
