import { LadeError } from '@lade/core/errors'
import { DAY_MS } from '@lade/core/time'
import type { ExtendRequest } from '@lade/core/wire'
import { sha256Hex } from '@lade/node/hashing/sha256'
import type { RepeatableChange, TermChange } from '../../../records/record-store.ts'

/** How long a key makes a repeated request do nothing. */
const KEY_MS = DAY_MS
const IDEMPOTENCY_KEY = /^[\x21-\x7e]([\x20-\x7e]{0,253}[\x21-\x7e])?$/

/** Reads how much longer a deal is to last. @throws {LadeError} `invalid_term` unless it is said in one way. */
export function readTermChange({ days, until, termDays }: ExtendRequest): TermChange {
  const asked: TermChange[] = [
    ...(days === undefined ? [] : [{ addDays: days }]),
    ...(until === undefined ? [] : [{ until: Date.parse(until) }]),
    ...(termDays === undefined ? [] : [{ termDays }]),
  ]
  const [term] = asked
  if (term === undefined || asked.length > 1) {
    throw new LadeError('invalid_term', { reason: 'Send exactly one of days, until and termDays.' })
  }
  return term
}

/**
 * What makes a repeated request extend a deal once, by its `Idempotency-Key`; undefined without one.
 *
 * @throws {LadeError} `bad_request` for a key that is none.
 */
export function onceBy(
  key: string | undefined,
  request: { readonly dealId: string; readonly term: TermChange },
  now: number,
): Omit<RepeatableChange, 'principal'> | undefined {
  if (key === undefined) return undefined
  if (!IDEMPOTENCY_KEY.test(key)) {
    throw new LadeError('bad_request', { reason: 'Idempotency-Key must have 1 to 255 printable ASCII characters.' })
  }
  return { key: digestOf(key), request: digestOf(JSON.stringify(request)), until: now + KEY_MS }
}

function digestOf(text: string): string {
  return sha256Hex(Buffer.from(text))
}
