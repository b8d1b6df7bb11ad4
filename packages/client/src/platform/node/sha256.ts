import { createHash, hash } from 'node:crypto'
import type { Sha256 } from '@lade/core/dag/import'

/** sha2-256 of whole bytes in one call. */
export const digest = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer')

/** sha2-256 by OpenSSL. */
export const sha256: Sha256 = {
  create() {
    const state = createHash('sha256')
    return { update: (bytes) => void state.update(bytes), digest: () => state.digest() }
  },
  of: digest,
}
