import type { ContentDigests, DigestsWanted } from '@lade/core/content'
import { DagHasher, IMPORT_PROFILES } from '@lade/core/dag'
import { hashPiece } from '@lade/core/piece'
import { blake2b } from '@noble/hashes/blake2.js'
import { blake3 } from '@noble/hashes/blake3.js'
import { hexOf } from './hex.ts'
import { sha256 } from './sha256.ts'

/** Nothing but what every body gets. */
export const PLAIN: DigestsWanted = { blake3: false, blake2b256: false, profiles: [], carRoot: undefined }
/** Everything that needs no root. */
export const EVERYTHING: DigestsWanted = {
  blake3: true,
  blake2b256: true,
  profiles: ['unixfs-v0-2015', 'unixfs-v1-2025', 'raw-256k-174', 'raw-1m-174'],
  carRoot: undefined,
}

/** Bytes without a pattern, the same for the same seed (xorshift32). */
export function scatteredBytes(sizeBytes: number, seed: number): Buffer {
  let state = seed | 1
  const bytes = Buffer.alloc(sizeBytes)
  for (let at = 0; at < sizeBytes; at += 1) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    bytes[at] = state >>> 8
  }
  return bytes
}

/** The bytes cut into chunks of these lengths, over and over; in one where the lengths lead nowhere. */
export function* chunksOf(bytes: Buffer, lengths: readonly number[]): Generator<Buffer> {
  if (lengths.every((length) => length === 0)) return yield bytes
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const length = lengths[turn % lengths.length] ?? 0
    yield bytes.subarray(at, at + length)
    at += length
  }
}

/** The same bytes in memory that threads share. */
export function shared(bytes: Uint8Array): Buffer {
  const block = Buffer.from(new SharedArrayBuffer(bytes.length))
  block.set(bytes)
  return block
}

/** What hashers have to find out, computed by other implementations, plainly and one thing after the other. */
export function expectedDigests(
  bytes: Uint8Array,
  { blake3: wantsBlake3, blake2b256, profiles }: DigestsWanted,
): ContentDigests {
  const piece = hashPiece(bytes)
  return {
    sizeBytes: bytes.length,
    sha256: hexOf(sha256.of(bytes)),
    pieceRoot: hexOf(piece.root),
    pieceSubtreeRoots: piece.subtreeRoots,
    blake3: wantsBlake3 ? hexOf(blake3(bytes)) : undefined,
    blake2b256: blake2b256 ? hexOf(blake2b(bytes, { dkLen: 32 })) : undefined,
    dags: profiles.flatMap((name) => {
      const hasher = new DagHasher({ profiles: [IMPORT_PROFILES[name]], sizeBytes: bytes.length, sha256 })
      hasher.update(bytes)
      return hasher.finish()
    }),
    car: undefined,
  }
}
