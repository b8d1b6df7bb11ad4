import fc from 'fast-check'
import { fixedSize } from 'ipfs-unixfs-importer/chunker'
import { balanced } from 'ipfs-unixfs-importer/layout'
import { CID } from 'multiformats'
import { base16 } from 'multiformats/bases/base16'
import { describe, expect, test } from 'vitest'
import { DagLayout } from './dag-layout.ts'
import { IMPORT_PROFILES, type ImportProfile } from './import-profile.ts'
import { cut, encodeBlocks, hashDags, importByReference, importHere, importWith, sha256 } from './testing-dag.ts'

const KIB = 1024
const MIB = 1024 * KIB
const isFull = process.env.LADE_TEST_PLAN === 'full'

/** Bytes without a pattern, so that no two blocks are alike. */
function noise(sizeBytes: number, seed: number): Uint8Array {
  const words = new Uint32Array(Math.ceil(sizeBytes / 4))
  let state = seed | 1
  for (let at = 0; at < words.length; at += 1) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    words[at] = state
  }
  return new Uint8Array(words.buffer).subarray(0, sizeBytes)
}

function smallProfile(leaves: ImportProfile['leaves'], chunkBytes: number, linksPerNode: number): ImportProfile {
  return { name: leaves === 'raw' ? 'raw-256k-174' : 'unixfs-v0-2015', chunkBytes, linksPerNode, leaves }
}

async function expectTheSame(profile: ImportProfile, bytes: Uint8Array, parts?: Uint8Array[]): Promise<void> {
  const here = importHere(profile, bytes, parts)
  const reference = await importByReference(profile, bytes)
  expect(here.root).toBe(reference.root)
  expect([...here.blocks.keys()].sort()).toEqual([...reference.blocks.keys()].sort())
  for (const [cid, block] of reference.blocks) {
    if (!sameBytes(here.blocks.get(cid), block)) throw new Error(`The bytes of ${cid} differ`)
  }
}

// Over many thousand blocks, `toEqual` would take most of the time.
function sameBytes(one: Uint8Array | undefined, other: Uint8Array): boolean {
  return one?.length === other.length && one.every((byte, at) => byte === other[at])
}

/** Every block hashes to the digest kept for it, and has the length that the layout says. */
function expectConsistent(profile: ImportProfile, bytes: Uint8Array): void {
  const layout = new DagLayout(profile, bytes.length)
  const [dag] = hashDags([profile], bytes.length, [bytes])
  if (dag === undefined) throw new Error('no DAG')
  const blocks = encodeBlocks(layout, dag, bytes)
  const dagBytes: number[] = []
  for (const [number, block] of blocks.entries()) {
    const node = layout.node(number)
    const children = dagBytes.slice(node.firstChild, node.firstChild + node.childCount)
    dagBytes.push(children.reduce((sum, below) => sum + below, block.length))
    expect(node.blockBytes).toBe(block.length)
    expect(node.dagBytes).toBe(dagBytes[number])
    if (!sameBytes(dag.digests.subarray(32 * number, 32 * (number + 1)), sha256.of(block))) {
      throw new Error(`Node ${number} does not hash to the digest kept for it`)
    }
  }
}

const someLeaves = fc.constantFrom('raw' as const, 'dag-pb' as const)
const someSeed = fc.integer({ min: 1, max: 2 ** 31 - 1 })
/** A chunk whose sizes are written with one, two or three bytes. */
const someChunkBytes = fc.constantFrom(1, 3, 7, 64, 127, 128, 200)

/** Sizes on, just below and just above each of `boundaries` chunks, and some between. */
function someSize(chunkBytes: number, boundaries: readonly number[]): fc.Arbitrary<number> {
  const near = fc
    .tuple(
      fc.constantFrom(...boundaries),
      fc.constantFrom(-chunkBytes - 1, -chunkBytes, -1, 0, 1, chunkBytes, chunkBytes + 1),
    )
    .map(([chunks, delta]) => Math.max(0, chunks * chunkBytes + delta))
  const between = fc.integer({ min: 0, max: Math.max(...boundaries) * chunkBytes })
  return fc.oneof({ weight: 3, arbitrary: near }, between)
}

/** Lengths of chunks to hand on: none, a few bytes, or whole leaves. */
function someCuts(chunkBytes: number): fc.Arbitrary<number[]> {
  return fc.array(fc.oneof(fc.nat({ max: 3 * chunkBytes }), fc.constantFrom(0, 1, chunkBytes, 2 * chunkBytes)), {
    maxLength: 20,
  })
}

interface Plan {
  readonly links: readonly number[]
  readonly boundaries: (linksPerNode: number) => readonly number[]
  readonly runs: number
}

const PLANS: Record<string, Plan> = {
  'many levels of a few links': {
    links: [2, 3, 5],
    boundaries: (links) => [0, 1, links, links ** 2, links ** 3, links ** 4],
    runs: isFull ? 6000 : 600,
  },
  '174 links': { links: [174], boundaries: (links) => [0, 1, links, 2 * links], runs: isFull ? 3000 : 300 },
  '1024 links': { links: [1024], boundaries: (links) => [1, links], runs: isFull ? 1000 : 100 },
}

describe('the same blocks as ipfs-unixfs-importer', () => {
  test.each(Object.entries(PLANS))('%s', { timeout: 600_000 }, async (_, { links, boundaries, runs }) => {
    const someFile = fc.record({
      leaves: someLeaves,
      chunkBytes: someChunkBytes,
      linksPerNode: fc.constantFrom(...links),
      seed: someSeed,
    })
    const someCase = someFile.chain((file) =>
      fc.record({
        profile: fc.constant(smallProfile(file.leaves, file.chunkBytes, file.linksPerNode)),
        bytes: someSize(file.chunkBytes, boundaries(file.linksPerNode)).map((size) => noise(size, file.seed)),
        cuts: someCuts(file.chunkBytes),
      }),
    )
    await fc.assert(
      fc.asyncProperty(someCase, async ({ profile, bytes, cuts }) => {
        await expectTheSame(profile, bytes, cut(bytes, cuts))
        expectConsistent(profile, bytes)
      }),
      { numRuns: runs },
    )
  })

  test.each([
    ['raw', 174 ** 2],
    ['dag-pb', 174 ** 2 + 1],
  ] as const)('three levels of 174 links, %s leaves, %i chunks', async (leaves, chunks) => {
    const profile = smallProfile(leaves, 8, 174)
    await expectTheSame(profile, noise(8 * chunks - 1, chunks))
  })

  test.each(
    Object.values(IMPORT_PROFILES).flatMap((profile) =>
      [0, 1, profile.chunkBytes - 1, profile.chunkBytes, profile.chunkBytes + 1, 3 * MIB + 5].map(
        (sizeBytes) => [profile.name, sizeBytes] as const,
      ),
    ),
  )('%s as it is, %i bytes', async (name, sizeBytes) => {
    const bytes = noise(sizeBytes, sizeBytes)
    await expectTheSame(IMPORT_PROFILES[name], bytes, cut(bytes, [1, 64 * KIB, 300 * KIB]))
  })

  test.each(['unixfs-v0-2015', 'unixfs-v1-2025'] as const)(
    "%s is the importer's own profile of that name",
    async (profile) => {
      const bytes = noise(2 * MIB + 1, 7)
      expect(importHere(IMPORT_PROFILES[profile], bytes).root).toBe((await importWith(bytes, { profile })).root)
    },
  )

  test("raw-256k-174 is the importer's default with raw leaves", async () => {
    const bytes = noise(2 * MIB + 1, 11)
    const reference = await importWith(bytes, { cidVersion: 1, rawLeaves: true })
    expect(importHere(IMPORT_PROFILES['raw-256k-174'], bytes).root).toBe(reference.root)
  })
})

describe('importer settings that no profile stands for', () => {
  const chunkBytes = 8
  const settings = { chunker: fixedSize({ chunkSize: chunkBytes }), layout: balanced({ maxChildrenPerNode: 174 }) }
  const rootDigest = (root: string) => base16.baseEncode(CID.parse(root).multihash.digest)
  const rootsOf = async (leaves: ImportProfile['leaves'], cidVersion: 0 | 1, chunks: number) => {
    const bytes = noise(chunks * chunkBytes, chunks)
    const reference = await importWith(bytes, { ...settings, cidVersion, rawLeaves: leaves === 'raw' })
    return [rootDigest(importHere(smallProfile(leaves, chunkBytes, 174), bytes).root), rootDigest(reference.root)]
  }

  test('raw leaves with CIDv0 make the same root up to 174 chunks, and another one above', async () => {
    const [here, reference] = await rootsOf('raw', 0, 174)
    expect(here).toBe(reference)
    const [hereAbove, referenceAbove] = await rootsOf('raw', 0, 175)
    expect(hereAbove).not.toBe(referenceAbove)
  })

  test('wrapped leaves with CIDv1 make the same root for one chunk, and another one above', async () => {
    const [here, reference] = await rootsOf('dag-pb', 1, 1)
    expect(here).toBe(reference)
    const [hereAbove, referenceAbove] = await rootsOf('dag-pb', 1, 2)
    expect(hereAbove).not.toBe(referenceAbove)
  })
})
