import { randomUUID } from 'node:crypto'

const HEAD_DIGITS = 8

/**
 * The synthetic id of the deal of a new file: `d-0x` and 32 hex digits. The first eight count milliseconds, so that deals of one time are
 * beside each other in the index, which has no more than these; most of the others are random.
 *
 * Not a secret: the head tells the millisecond within 50 days.
 *
 * @example
 * newDealId(1_790_000_000_000) // 'd-0xc4506c00' and 24 more digits
 */
export function newDealId(now: number): string {
  const head = (now % 2 ** 32).toString(16).padStart(HEAD_DIGITS, '0')
  return `d-0x${head}${randomUUID().replaceAll('-', '').slice(HEAD_DIGITS)}`
}
