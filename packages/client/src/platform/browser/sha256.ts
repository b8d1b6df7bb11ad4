import type { Sha256 } from '@lade/core/dag/import'
import { sha256 as portable } from '@noble/hashes/sha2.js'
import type { Digest } from '../../hashing/leaves.ts'

/** sha2-256 in JavaScript, for what is small or has to run along. */
export const sha256: Sha256 = {
  create: () => portable.create(),
  of: (bytes) => portable(bytes),
}

/** The browser's own sha2-256, some seven times as fast, where the page is in a secure context. */
export const digest: Digest = async (block) => {
  const { subtle } = globalThis.crypto ?? {}
  return subtle === undefined ? portable(block) : new Uint8Array(await subtle.digest('SHA-256', block))
}
