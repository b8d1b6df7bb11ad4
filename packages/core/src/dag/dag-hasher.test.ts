import { createCipheriv, createHash } from 'node:crypto'
import { base16 } from 'multiformats/bases/base16'
import { describe, expect, test } from 'vitest'
import { DagHasher } from './dag-hasher.ts'
import { DagLayout } from './dag-layout.ts'
import { IMPORT_PROFILES, type ImportProfileName } from './import-profile.ts'
import { type Sha256Stream, streamOf } from './sha256.ts'
import { cidOf, cut, digestOf, encodeBlocks, hashDags, sha256 } from './testing-dag.ts'

const MIB = 2 ** 20
const V0 = IMPORT_PROFILES['unixfs-v0-2015']
const V1 = IMPORT_PROFILES['unixfs-v1-2025']

/** The key stream of ChaCha20 from an all-zero nonce, which the fixtures of IPIP-0499 are made of, MiB by MiB. */
function* chaCha20Parts(seed: string, sizeBytes: number): Generator<Uint8Array> {
  const cipher = createCipheriv('chacha20', createHash('sha256').update(seed).digest(), new Uint8Array(16))
  const zeros = new Uint8Array(MIB)
  for (let done = 0; done < sizeBytes; done += MIB) yield cipher.update(zeros.subarray(0, sizeBytes - done))
}

function rootOf(name: ImportProfileName, sizeBytes: number, parts: Iterable<Uint8Array>): string {
  const hasher = new DagHasher({ profiles: [IMPORT_PROFILES[name]], sizeBytes, sha256 })
  for (const part of parts) hasher.update(part)
  const [dag] = hasher.finish()
  return cidOf(IMPORT_PROFILES[name], dag?.rootCodec ?? 'raw', base16.baseDecode(dag?.root ?? ''))
}

const hello = new TextEncoder().encode('hello world')

// The table and the fixtures of https://github.com/ipfs/specs/blob/main/src/ipips/ipip-0499.md
describe('the vectors of IPIP-0499', () => {
  test.each([
    ['unixfs-v0-2015', 'QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH'],
    ['unixfs-v1-2025', 'bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku'],
  ] as const)('the empty file under %s is %s', (name, cid) => {
    expect(rootOf(name, 0, [])).toBe(cid)
    expect(rootOf(name, 0, [new Uint8Array()])).toBe(cid)
  })

  test.each([
    ['unixfs-v0-2015', 'Qmf412jQZiuVUtdgnB36FXFX7xg5V6KEbSJ4dpQuhkLyfD'],
    ['unixfs-v1-2025', 'bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e'],
  ] as const)('"hello world" under %s is %s', (name, cid) => {
    expect(rootOf(name, hello.length, [hello])).toBe(cid)
  })

  test.each([
    ['unixfs-v0-2015', 'chunk-v0-seed', 262_144, 'QmWmRj3dFDZdb6ABvbmKhEL6TmPbAfBZ1t5BxsEyJrcZhE'],
    ['unixfs-v0-2015', 'chunk-v0-seed', 262_145, 'QmYyLxtzZyW22zpoVAtKANLRHpDjZtNeDjQdJrcQNWoRkJ'],
    ['unixfs-v0-2015', 'v0-seed', 174 * 262_144, 'QmUbBALi174SnogsUzLpYbD4xPiBSFANF4iztWCsHbMKh2'],
    ['unixfs-v0-2015', 'v0-seed', 174 * 262_144 + 1, 'QmV81WL765sC8DXsRhE5fJv2rwhS4icHRaf3J9Zk5FdRnW'],
    ['unixfs-v1-2025', 'chunk-v1-seed', MIB, 'bafkreiacndfy443ter6qr2tmbbdhadvxxheowwf75s6zehscklu6ezxmta'],
    ['unixfs-v1-2025', 'chunk-v1-seed', MIB + 1, 'bafybeigmix7t42i6jacydtquhet7srwvgpizfg7gjbq7627d35mjomtu64'],
  ] as const)('%s of seed %s, %i bytes, is %s', (name, seed, sizeBytes, cid) => {
    expect(rootOf(name, sizeBytes, chaCha20Parts(seed, sizeBytes))).toBe(cid)
  })

  test.runIf(process.env.LADE_TEST_PLAN === 'full').each([
    [1024 * MIB, 'bafybeihmf37wcuvtx4hpu7he5zl5qaf2ineo2lqlfrapokkm5zzw7zyhvm'],
    [1024 * MIB + 1, 'bafybeibdsi225ugbkmpbdohnxioyab6jsqrmkts3twhpvfnzp77xtzpyhe'],
  ] as const)(
    'unixfs-v1-2025 of seed v1-2025-seed, %i bytes, is %s',
    { timeout: 300_000, meta: { skippedBecause: 'only the full plan has it: npm run test:full' } },
    (sizeBytes, cid) => {
      expect(rootOf('unixfs-v1-2025', sizeBytes, chaCha20Parts('v1-2025-seed', sizeBytes))).toBe(cid)
    },
  )

  // Computed with ipfs-unixfs-importer 17.1.1.
  test.each([
    ['unixfs-v0-2015', 262_145, 'QmbVuw4C4vcmVKqxoWtgDVobvcHrSn51qsmQmyxjk4sB2Q'],
    ['unixfs-v1-2025', MIB + 1, 'bafybeihd4yzq7n5umhjngdum4r6k2to7egxfkf2jz6thvwzf6djus22cmq'],
  ] as const)('%s of %i zero bytes is %s', (name, sizeBytes, cid) => {
    expect(rootOf(name, sizeBytes, [new Uint8Array(sizeBytes)])).toBe(cid)
  })
})

describe('DagHasher', () => {
  test('hashes the leaves that profiles share once, and gives each its own DAG', () => {
    let hashedBytes = 0
    const counting = {
      ...sha256,
      of: (bytes: Uint8Array) => {
        hashedBytes += bytes.length
        return sha256.of(bytes)
      },
    }
    const narrow = { ...V1, chunkBytes: 64, linksPerNode: 3 }
    const wide = { ...narrow, name: 'raw-1m-174' as const, linksPerNode: 10 }
    const bytes = Uint8Array.from({ length: 640 }, (_, at) => at)
    const hasher = new DagHasher({ profiles: [narrow, wide], sizeBytes: 640, sha256: counting })
    hasher.update(bytes)
    expect(hashedBytes).toBe(640)
    const both = hasher.finish()
    expect(both).toEqual([...hashDags([narrow], 640, [bytes]), ...hashDags([wide], 640, [bytes])])
    expect(both.map(({ profile }) => profile)).toEqual(['unixfs-v1-2025', 'raw-1m-174'])
    expect(both[0]?.root).not.toBe(both[1]?.root)
  })

  test('a file of one chunk is its leaf, raw or dag-pb', () => {
    for (const profile of Object.values(IMPORT_PROFILES)) {
      const [dag] = hashDags([profile], hello.length, [hello])
      expect(dag?.rootCodec).toBe(profile.leaves)
      expect(dag?.digests).toHaveLength(32)
      expect(dag?.root).toBe(base16.baseEncode(dag?.digests ?? new Uint8Array()))
    }
  })

  test('the root is the last digest', () => {
    const [dag] = hashDags([{ ...V0, chunkBytes: 2 }], hello.length, [hello])
    if (dag === undefined) throw new Error('no DAG')
    expect(dag.digests).toHaveLength(7 * 32)
    expect(base16.baseEncode(digestOf(dag, 6))).toBe(dag.root)
    expect(dag.rootCodec).toBe('dag-pb')
  })

  test('a chunk may be overwritten as soon as update returns', () => {
    const profile = { ...V0, chunkBytes: 4 }
    const hasher = new DagHasher({ profiles: [profile], sizeBytes: hello.length, sha256 })
    const reused = new Uint8Array(3)
    for (const part of cut(hello, [3, 3, 3])) {
      reused.set(part)
      hasher.update(reused.subarray(0, part.length))
      reused.fill(0xff)
    }
    expect(hasher.finish()).toEqual(hashDags([profile], hello.length, [hello]))
  })

  test('a chunk may lie in shared memory', () => {
    const shared = new Uint8Array(new SharedArrayBuffer(hello.length))
    shared.set(hello)
    expect(hashDags([V0], hello.length, [shared])).toEqual(hashDags([V0], hello.length, [hello]))
  })

  test('keeps the leaves of a file that has many apart', () => {
    const profile = { ...V0, chunkBytes: 2 }
    const bytes = Uint8Array.from({ length: 1501 }, (_, at) => at % 251)
    const layout = new DagLayout(profile, bytes.length)
    const [dag] = hashDags([profile], bytes.length, [bytes])
    if (dag === undefined) throw new Error('no DAG')
    for (const [number, block] of encodeBlocks(layout, dag, bytes).entries()) {
      expect(digestOf(dag, number)).toEqual(sha256.of(block))
    }
  })

  test('a sha2-256 may put its work off until just before finish', () => {
    for (const profile of [V0, V1]) {
      const narrow = { ...profile, chunkBytes: 3 }
      for (const length of [0, 1, 3, 1000]) {
        const bytes = Uint8Array.from({ length }, (_, at) => at % 251)
        const putOff: (() => void)[] = []
        const stream = (): Sha256Stream => {
          const atOnce = streamOf(sha256)
          return {
            update: (part) => void putOff.push(() => atOnce.update(part)),
            end: (last, digest) => void putOff.push(() => atOnce.end(last, digest)),
          }
        }
        const hasher = new DagHasher({ profiles: [narrow], sizeBytes: length, sha256: { ...sha256, stream } })
        for (const part of cut(bytes, [2, 2, 100, 1])) hasher.update(part)
        for (const work of putOff) work()
        expect(hasher.finish()).toEqual(hashDags([narrow], length, [bytes]))
      }
    }
  })

  test('room for digests follows what arrived, not what was declared', () => {
    const hasher = new DagHasher({ profiles: [V0], sizeBytes: Number.MAX_SAFE_INTEGER, sha256 })
    hasher.update(hello)
    expect(() => hasher.finish()).toThrow('11 bytes came of a file of 9007199254740991')
  })

  test.each([
    ['fewer', 12],
    ['more', 10],
    ['more than none', 0],
  ])('error: %s bytes than declared', (_, sizeBytes) => {
    const hasher = new DagHasher({ profiles: [V0], sizeBytes, sha256 })
    hasher.update(hello)
    expect(() => hasher.finish()).toThrow(TypeError)
    hasher.update(hello)
    expect(() => hasher.finish()).toThrow(TypeError)
  })

  test.each([
    ['no profile', []],
    ['chunks of two sizes', [V1, IMPORT_PROFILES['raw-256k-174']]],
    ['two kinds of leaf', [V0, IMPORT_PROFILES['raw-256k-174']]],
  ])('error: %s', (_, profiles) => {
    expect(() => new DagHasher({ profiles, sizeBytes: 1, sha256 })).toThrow(TypeError)
  })
})
