import { type PieceHashing, pieceHashing, pieceHashingWith } from '@lade/node/hashing/piece-hashing'
import { create as createWasmHasher } from 'fr32-sha2-256-trunc254-padded-binary-tree-multihash'
import type { BenchRun } from '../bench-run.ts'
import { takeRounds } from '../rounds.ts'
import type { Row, SampledVariant, Variant } from '../sample.ts'
import { seededBytes } from '../stamped-body.ts'

const MIB = 1024 * 1024
const SIZE_BYTES = 256 * MIB
/** The package is so slow that its samples are shorter. */
const PACKAGE_SIZE_BYTES = 16 * MIB
const BLOCKS = 4

/**
 * Piece commitments in one process, without a service: the native hasher against the npm WASM package, and against its own
 * calls into the tree hash, made again over other nodes without padding and without anything in between.
 */
export async function measurePiece(run: BenchRun): Promise<Row[]> {
  if (!pieceHashing.isNative) throw new Error('@chainsafe/hashtree has no binary for this platform')
  const blocks = Array.from({ length: BLOCKS }, (_, index) => {
    const block = Buffer.from(new SharedArrayBuffer(MIB))
    return block.fill(seededBytes(index, MIB))
  })
  const variants = [
    variant('Lade', SIZE_BYTES, () => hashNatively(blocks, pieceHashing)),
    variant('npm package, 1 MiB written at a time', PACKAGE_SIZE_BYTES, () => hashByPackage(blocks, MIB)),
    variant('npm package, 64 KiB written at a time', PACKAGE_SIZE_BYTES, () => hashByPackage(blocks, MIB / 16)),
    variant('tree hash alone', SIZE_BYTES, replayer(blocks)),
  ]
  for (const { takeSample } of variants) await takeSample(0)
  const [lade, inMiB, in64KiB, tree] = await takeRounds(variants, run.options.rounds, run.progress)
  if (lade === undefined || inMiB === undefined || in64KiB === undefined || tree === undefined) {
    throw new TypeError('a variant was not sampled')
  }
  const row = (what: string, targetRatio: number, baselines: SampledVariant[]): Row => {
    return { what, unit: 'MiB/s', targetRatio, lade, baselines, others: [] }
  }
  return [
    row('piece commitment, and the npm WASM package', 12, [inMiB, in64KiB]),
    row('piece commitment, and its tree hashing alone', 0.85, [tree]),
  ]
}

function variant(name: string, sizeBytes: number, hash: () => void): Variant {
  return {
    name,
    async takeSample() {
      const startedAt = performance.now()
      hash()
      return { value: sizeBytes / MIB / ((performance.now() - startedAt) / 1000) }
    },
  }
}

function hashNatively(blocks: readonly Buffer[], hashing: PieceHashing): void {
  const hasher = hashing.create()
  for (let index = 0; index < SIZE_BYTES / MIB; index++) hasher.update(blockAt(blocks, index))
  hasher.finish()
}

function hashByPackage(blocks: readonly Buffer[], writeBytes: number): void {
  const hasher = createWasmHasher()
  for (let offset = 0; offset < PACKAGE_SIZE_BYTES; offset += writeBytes) {
    const from = offset % MIB
    hasher.write(blockAt(blocks, Math.floor(offset / MIB)).subarray(from, from + writeBytes))
  }
  hasher.digestInto(new Uint8Array(hasher.digestByteLength()), 0, false)
  hasher.free()
}

/** Makes every call into the tree hash that the native hasher makes, of the same lengths in the same order. */
function replayer(blocks: readonly Buffer[]): () => void {
  const { hashPairs } = pieceHashing
  const lengths: number[] = []
  const recording = pieceHashingWith((nodes, parents) => {
    lengths.push(nodes.length)
    hashPairs(nodes, parents)
  })
  hashNatively(blocks, recording)
  const longest = Math.max(...lengths)
  const { buffer: nodes } = new Uint8Array(seededBytes(0, longest))
  const { buffer: parents } = new Uint8Array(longest / 2)
  return () => {
    for (const length of lengths) hashPairs(new Uint8Array(nodes, 0, length), new Uint8Array(parents, 0, length / 2))
  }
}

function blockAt(blocks: readonly Buffer[], index: number): Buffer {
  const block = blocks[index % blocks.length]
  if (block === undefined) throw new TypeError('there are no blocks')
  return block
}
