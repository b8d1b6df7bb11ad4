/** What one look at something found. */
export interface Finding {
  /** Stable, for programs. */
  readonly check: string
  /** `broken` keeps something from working; `unknown` could not be looked at from here, or is not in use. */
  readonly state: 'ok' | 'warning' | 'broken' | 'unknown'
  /** What was found and, where it is not as it should be, what to do: sentences. */
  readonly sentence: string
}

export const ok = (check: string, sentence: string): Finding => ({ check, state: 'ok', sentence })
export const warning = (check: string, sentence: string): Finding => ({ check, state: 'warning', sentence })
export const broken = (check: string, sentence: string): Finding => ({ check, state: 'broken', sentence })
export const unknown = (check: string, sentence: string): Finding => ({ check, state: 'unknown', sentence })
