import type { ContentId } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'

/** @throws {LadeError} `invalid_cid` for what is no piece CID. */
export function requirePieceCid({ form }: ContentId): void {
  if (form === 'piece-v1' || form === 'piece-v2') return
  throw new LadeError('invalid_cid', { reason: 'This endpoint accepts only piece CIDs of version 1 or 2.' })
}
