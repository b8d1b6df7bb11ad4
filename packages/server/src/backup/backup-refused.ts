/** A backup or a restore that would do harm, and was not begun. Its message says what to do, and holds no secret. */
export class BackupRefused extends Error {
  override readonly name = 'BackupRefused'
}
