/** What one UTC day was charged. */
export interface UsageDay {
  readonly date: string
  readonly bytes: number
  readonly files: number
}
