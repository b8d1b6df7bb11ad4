import { createRequire } from 'node:module'
import { type HashPairs, hashPiece, type PieceDigest, PieceHasher, portableHashPairs } from '@lade/core/piece'
import { type HashedPiece, nativePieceHashing, type RunningPieceOptions } from './native-piece-hasher.ts'

/** A running piece commitment. */
export interface RunningPiece {
  /** Takes the next bytes, of any length. They are read before this returns. */
  update(chunk: Uint8Array): void
  /** Ends the bytes. */
  finish(): HashedPiece
}

/** How this process hashes pieces. */
export interface PieceHashing {
  /** False where the native hash has no binary for this platform, and pieces take about seven times as long. */
  readonly isNative: boolean
  /** Hashes nodes to their parents, for everything in core that lets itself be handed a hash. */
  readonly hashPairs: HashPairs
  create(options?: RunningPieceOptions): RunningPiece
  /** The digest of bytes that are all there. */
  whole(bytes: Uint8Array): PieceDigest
}

/**
 * The native way, or the portable one of core where `hashPairs` is undefined. Both give the same digests.
 */
export function pieceHashingWith(hashPairs: HashPairs | undefined): PieceHashing {
  if (hashPairs === undefined) {
    return {
      isNative: false,
      hashPairs: portableHashPairs,
      create: () => new PieceHasher(),
      whole: (bytes) => hashPiece(bytes),
    }
  }
  return { isNative: true, hashPairs, ...nativePieceHashing(hashPairs) }
}

/**
 * The native hash; undefined where it cannot be loaded. Its binaries are optional dependencies, one for each platform.
 *
 * @param load - loads the package.
 */
export function loadHashPairs(load: () => unknown = loadHashtree): HashPairs | undefined {
  try {
    const { hashInto } = load() as { readonly hashInto: HashPairs }
    return hashInto
  } catch {
    // Whatever it is that this platform lacks, hashing goes on without it.
    return undefined
  }
}

/** Not by `import`, whose failure would be the failure of everything that hashes. */
function loadHashtree(): unknown {
  return createRequire(import.meta.url)('@chainsafe/hashtree')
}

/** How the calling thread hashes pieces. */
export const pieceHashing: PieceHashing = pieceHashingWith(loadHashPairs())
