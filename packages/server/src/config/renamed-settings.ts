/**
 * The old names of settings, each with its new name. An old name, and the flag derived from it, goes on working; a start
 * logs a warning that says the new one.
 */
export const RENAMED_SETTINGS = {
  LADE_TOKEN_DAYS: 'LADE_TOKEN_FILE_DAYS',
  LADE_SPONSORED_DAYS: 'LADE_SPONSORED_FILE_DAYS',
  LADE_TOKEN_QUOTA_MB: 'LADE_TOKEN_DAILY_MB',
  LADE_S3_REDIRECT: 'LADE_S3_REDIRECT_SECONDS',
} as const satisfies Record<`LADE_${string}`, `LADE_${string}`>

/** A setting that was given under its old name. */
export interface OldNameInUse {
  /** The variable or the flag as it was given, such as `--token-days`. */
  readonly givenAs: string
  /** The variable or the flag to use now, such as `--token-file-days`. */
  readonly newName: string
}

/**
 * The old name of the setting that is called `name` now.
 *
 * @example
 * oldNameOf('LADE_TOKEN_FILE_DAYS') // 'LADE_TOKEN_DAYS'
 * oldNameOf('LADE_PORT') // undefined
 */
export function oldNameOf(name: string): string | undefined {
  return Object.entries(RENAMED_SETTINGS).find(([, newName]) => newName === name)?.[0]
}
