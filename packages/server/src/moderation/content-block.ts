import { LadeError } from '@lade/core/errors'
import type { RecordStore, TakedownRecord } from '../records/record-store.ts'
import type { RulePlace } from './denylist/denylist.ts'

/** Why content is refused: the operator took it down, or a denylist has it. */
export type ContentBlock =
  | { readonly by: 'operator'; readonly takedown: TakedownRecord }
  | { readonly by: 'denylist'; readonly rule: RulePlace }

/** Who may be told why. */
export interface BlockedReader {
  readonly principal: string
  /** Of what the caller asked for or sent. */
  readonly key: string
  readonly now: number
}

const ON_A_DENYLIST = 'A denylist of this service names it.'

/** The refusal of blocked content, for somebody who is not told why. */
export function blockedError(): LadeError<'blocked'> {
  return new LadeError('blocked', {})
}

/** The same for a caller: an owner of a file of it is told why. @throws {LadeError} `storage_failed`. */
export async function blockedErrorFor(
  { files }: Pick<RecordStore, 'files'>,
  block: ContentBlock,
  { principal, key, now }: BlockedReader,
): Promise<LadeError<'blocked'>> {
  const own = await files.latest({ principal, key, now })
  return own === undefined ? blockedError() : new LadeError('blocked', reasonOf(block))
}

/** What the owner of a file is told of its block. */
export function reasonOf(block: ContentBlock): { readonly reason: string; readonly blockedAt?: string } {
  if (block.by === 'denylist') return { reason: ON_A_DENYLIST }
  const { reason, blockedAt } = block.takedown
  return { reason, blockedAt: new Date(blockedAt).toISOString() }
}
