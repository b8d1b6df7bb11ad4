import type { ContentId } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import { verifyWhole } from '../blobs/receive.ts'

const NOTHING = new Uint8Array()

/** True for an id of no bytes at all, as a folder may hold empty files. An opaque id says nothing of its bytes. */
export function namesEmptyFile(id: ContentId): boolean {
  if (!id.verified) return false
  try {
    verifyWhole(NOTHING, { id, sha256: undefined, mayBeCar: false, profile: undefined, bill: undefined })
    return true
  } catch (error) {
    if (LadeError.has(error, 'cid_mismatch')) return false
    throw error
  }
}
