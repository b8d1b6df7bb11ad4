import { randomUUID } from 'node:crypto'

const HEAD_DIGITS = 8

/**
 * The synthetic id of the deal of a new file: `d-0x` and 32 hex digits. The first eight are the time in milliseconds, modulo 2³². The index
 * of deals holds only these, so that new entries are beside each other. The other digits are those of a UUID, with 90 random bits.
 *
 * The id tells when the file was uploaded.
 *
 * @example
 * newDealId(1_790_000_000_000) // 'd-0xc4506c00' and 24 more digits
 */
export function newDealId(now: number): string {
  const head = (now % 2 ** 32).toString(16).padStart(HEAD_DIGITS, '0')
  return `d-0x${head}${randomUUID().replaceAll('-', '').slice(HEAD_DIGITS)}`
}
