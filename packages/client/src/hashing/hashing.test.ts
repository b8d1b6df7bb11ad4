import { openAsBlob } from 'node:fs'
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseContentId } from '@lade/core/content'
import { IMPORT_PROFILES, type ImportProfileName } from '@lade/core/dag/import'
import { hashPiece } from '@lade/core/piece'
import { PART_BYTES } from '@lade/core/wire'
import { bytesToHex } from '@noble/hashes/utils.js'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { LIMITS } from '../limits.ts'
import { platform as browser } from '../platform/browser/platform.ts'
import { platform } from '../platform/node/platform.ts'
import { importFile, unixfsV1Cid } from '../testing/importer.ts'
import { noise } from '../testing/noise.ts'
import { hashHere } from './hash-here.ts'
import { hashInWorker } from './hash-in-worker.ts'
import type { HashWants } from './hash-wants.ts'
import { LeafHasher } from './leaves.ts'
import { openHashing } from './open-hashing.ts'
import type { Slice } from './slice.ts'
import { checkDigests, joinParts, nameOf, unixfsCidOf } from './whole-digests.ts'

const MIB = 1_048_576
const EVERYTHING: HashWants = {
  leaves: ['raw-1m', 'raw-256k', 'dag-pb-256k'],
  sha256: true,
  blake3: true,
  blake2b256: true,
  piece: true,
}
const LEAVES: HashWants = { leaves: ['raw-1m'], sha256: false, blake3: false, blake2b256: false, piece: false }
const bytesSlice = (bytes: Uint8Array<ArrayBuffer>): Slice => ({ kind: 'bytes', bytes })

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lade-client-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

describe('the id of a file that was hashed in parts', () => {
  const partBytes = 2 * MIB
  /** Sizes on and around the ends of leaves and of parts. */
  const someSize = fc.oneof(
    fc
      .tuple(fc.constantFrom(MIB / 4, MIB, partBytes, 2 * partBytes, 3 * partBytes), fc.constantFrom(-1, 0, 1))
      .map(([boundary, delta]) => boundary + delta),
    fc.integer({ min: 1, max: 7 * MIB }),
  )

  it('is that of ipfs-unixfs-importer, whatever hashes it', async () => {
    await fc.assert(
      fc.asyncProperty(someSize, fc.integer({ min: 1, max: 1000 }), async (sizeBytes, seed) => {
        const bytes = noise(sizeBytes, seed)
        const expected = await unixfsV1Cid(bytes)
        for (const tools of [platform, browser]) {
          const hashing = await hashHere(LEAVES, tools)
          const parts = []
          for (let at = 0; at < sizeBytes; at += partBytes) {
            parts.push(await hashing.part(bytesSlice(bytes.subarray(at, at + partBytes)), () => {}))
          }
          const whole = await joinParts(parts, await hashing.finish())
          expect(unixfsCidOf(whole, tools.sha256)).toBe(expected)
        }
      }),
      { numRuns: 15 },
    )
  })
})

describe('hashing', () => {
  const bytes = noise(MIB + 300_003)

  it('learns the same here and in a worker, of arrays, Blobs and open files, in Node and as browsers do', async () => {
    const path = join(folder, 'file')
    await writeFile(path, bytes)
    const file = await open(path)
    const blob = new Blob([bytes])
    const slices: Slice[] = [
      bytesSlice(bytes),
      { kind: 'blob', blob },
      { kind: 'file', fd: file.fd, offsetBytes: 0, sizeBytes: bytes.length },
    ]
    const found = []
    for (const slice of slices) {
      let hashedBytes = 0
      for (const hashing of [
        await hashHere(EVERYTHING, platform),
        await hashInWorker(required(platform.startWorker()), EVERYTHING),
        ...(slice.kind === 'file' ? [] : [await hashHere(EVERYTHING, browser)]),
      ]) {
        const part = await hashing.part(slice, (more) => {
          hashedBytes += more
        })
        found.push({ part, hashes: await hashing.finish() })
        hashing.close()
        expect(hashedBytes % bytes.length).toBe(0)
      }
    }
    await file.close()
    expect(found).toHaveLength(8)
    const [first] = found
    for (const each of found) expect(plain(each)).toEqual(plain(first))
    expect(bytesToHex(first?.part.piece?.root ?? new Uint8Array())).toBe(bytesToHex(hashPiece(bytes).root))
    // What was sent to a worker is still here.
    expect(bytes.length).toBe(MIB + 300_003)
  })

  it('reads a part of a file that is shorter by now as source_changed, here and in a worker', async () => {
    const path = join(folder, 'file')
    await writeFile(path, noise(100))
    const file = await open(path)
    const slice: Slice = { kind: 'file', fd: file.fd, offsetBytes: 50, sizeBytes: 51 }
    for (const hashing of [
      await hashHere(LEAVES, platform),
      await hashInWorker(required(platform.startWorker()), LEAVES),
    ]) {
      await expect(hashing.part(slice, () => {})).rejects.toMatchObject({ code: 'source_changed' })
      hashing.close()
    }
    await file.close()
  })

  it('fails when it is closed in the middle', async () => {
    for (const hashing of [
      await hashHere(LEAVES, platform),
      await hashInWorker(required(platform.startWorker()), LEAVES),
    ]) {
      const part = hashing.part({ kind: 'blob', blob: new Blob([noise(20 * MIB)]) }, () => {})
      hashing.close()
      await expect(part).rejects.toThrow('given up')
    }
  })

  it('is done here when there is no worker to be had', async () => {
    const big = noise(9 * MIB)
    const startWorker = () => ({
      post() {},
      listen: (_: unknown, onBroken: (error: Error) => void) => onBroken(new Error('forbidden by the page')),
      end() {},
    })
    for (const none of [
      { ...platform, startWorker },
      { ...platform, startWorker: () => undefined },
    ]) {
      const options = { wants: LEAVES, sizeBytes: big.length, sample: bytesSlice(big), threads: true }
      const hashing = await openHashing(none, options)
      const part = await hashing.part(bytesSlice(big), () => {})
      expect(unixfsCidOf(part, platform.sha256)).toBe(await unixfsV1Cid(big))
    }
  })

  it("is done here for Node's Blobs of files and slices of them, which do not leave their thread", async () => {
    const big = noise(9 * MIB)
    const path = join(folder, 'file')
    await writeFile(path, big)
    const whole = await openAsBlob(path)
    for (const blob of [whole, whole.slice(0, big.length)]) {
      const slice: Slice = { kind: 'blob', blob }
      const options = { wants: LEAVES, sizeBytes: big.length, sample: slice, threads: true }
      const hashing = await openHashing(platform, options)
      const part = await hashing.part(slice, () => {})
      expect(unixfsCidOf(part, platform.sha256)).toBe(await unixfsV1Cid(big))
      hashing.close()
    }
  })
})

describe('checkDigests', () => {
  const bytes = noise(3 * MIB + 1)
  const sha256Hex = (data: Uint8Array) => bytesToHex(platform.sha256.of(data))
  const digestsOf = async (data: Uint8Array<ArrayBuffer>) => {
    const hashing = await hashHere(EVERYTHING, platform)
    return joinParts([await hashing.part(bytesSlice(data), () => {})], await hashing.finish())
  }

  it.each(Object.keys(IMPORT_PROFILES) as ImportProfileName[])('knows the root that %s gives', async (name) => {
    const { chunkBytes, linksPerNode, leaves } = IMPORT_PROFILES[name]
    const { root } = await importFile(bytes, { chunkBytes, linksPerNode, isRaw: leaves === 'raw' })
    const id = parseContentId(root.toString(), sha256Hex)
    expect(() => checkDigests(id, digests, platform.sha256)).not.toThrow()
    expect(() => checkDigests(id, others, platform.sha256)).toThrow(expect.objectContaining({ code: 'cid_mismatch' }))
  })

  it.each(['raw', 'sha256', 'piece', 'unixfs'] as const)('knows the id that a put has under %s', (form) => {
    const id = parseContentId(nameOf(form, digests, platform.sha256), sha256Hex)
    expect(() => checkDigests(id, digests, platform.sha256)).not.toThrow()
    expect(() => checkDigests(id, others, platform.sha256)).toThrow(expect.objectContaining({ code: 'cid_mismatch' }))
  })

  let digests: Awaited<ReturnType<typeof digestsOf>>
  let others: Awaited<ReturnType<typeof digestsOf>>
  beforeEach(async () => {
    digests ??= await digestsOf(bytes)
    others ??= await digestsOf(noise(bytes.length, 2))
  })
})

describe('LeafHasher', () => {
  it('gives the same digests however the bytes are cut', async () => {
    const bytes = noise(MIB + 300_000)
    const whole = new LeafHasher('dag-pb-256k', bytes.length, platform.digest)
    await whole.update(bytes)
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 400_000 }), { maxLength: 12 }), async (lengths) => {
        const hasher = new LeafHasher('dag-pb-256k', bytes.length, platform.digest)
        let at = 0
        for (const length of [...lengths, bytes.length]) {
          await hasher.update(bytes.subarray(at, at + length))
          at = Math.min(at + length, bytes.length)
        }
        expect(bytesToHex(hasher.finish())).toBe(bytesToHex(whole.finish()))
      }),
      { numRuns: 20 },
    )
  })
})

describe('LIMITS', () => {
  it('cut files where the service composes them', () => {
    expect(LIMITS.partBytes).toBe(PART_BYTES)
  })
})

function required<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new TypeError('there is none')
  return value
}

/** Buffers of Node and arrays compare as unlike. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_, each) => (each instanceof Uint8Array ? bytesToHex(each) : each)))
}
