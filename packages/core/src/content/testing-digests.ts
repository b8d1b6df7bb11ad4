import { createHash } from 'node:crypto'
import { base16 } from 'multiformats/bases/base16'
import { DagHasher, IMPORT_PROFILES } from '../dag/dag.ts'
import { PieceHasher } from '../piece/piece.ts'
import type { ContentDigests, DigestsWanted } from './content-digests.ts'

/** sha2-256 by node:crypto, as the DAG hasher takes it. */
const nodeSha256 = {
  create: () => {
    const state = createHash('sha256')
    return {
      update: (bytes: Uint8Array) => void state.update(bytes),
      digest: (): Uint8Array => state.digest(),
    }
  },
  of: (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest(),
}

/** What one pass over `bytes` learns, computed plainly. The blake digests are stand-ins that no bytes have. */
export function digestsOf(bytes: Uint8Array, wanted: Partial<DigestsWanted> = {}): ContentDigests {
  const piece = new PieceHasher()
  piece.update(bytes)
  const { root, subtreeRoots } = piece.finish()
  const dags = (wanted.profiles ?? []).flatMap((name) => {
    const hasher = new DagHasher({
      profiles: [IMPORT_PROFILES[name]],
      sizeBytes: bytes.length,
      sha256: nodeSha256,
    })
    hasher.update(bytes)
    return hasher.finish()
  })
  return {
    sizeBytes: bytes.length,
    sha256: base16.baseEncode(nodeSha256.of(bytes)),
    pieceRoot: base16.baseEncode(root),
    pieceSubtreeRoots: subtreeRoots,
    blake3: wanted.blake3 === true ? 'b3'.repeat(32) : undefined,
    blake2b256: wanted.blake2b256 === true ? '2b'.repeat(32) : undefined,
    dags,
    car: undefined,
  }
}
