/**
 * What led to an error, the nearest first, as one text. Stores and databases say there what they were told; none says a password.
 *
 * @example
 * causesOf(new LadeError('storage_failed', { retryAfterSeconds: 5 }, { cause: new Error('ECONNREFUSED') })) // 'ECONNREFUSED'
 */
export function causesOf({ cause }: Error): string {
  if (!(cause instanceof Error)) return ''
  // An error of several attempts has no message of its own.
  const own = cause.message === '' && 'code' in cause ? String(cause.code) : cause.message
  return [own, causesOf(cause)].filter((text) => text !== '').join(': ')
}
