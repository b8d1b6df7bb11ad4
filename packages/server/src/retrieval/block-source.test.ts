import { CID } from 'multiformats/cid'
import { sha256 } from 'multiformats/hashes/sha2'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { OpenBlob } from '../blobs/blob-store.ts'
import { openStagingFixture, type StagingFixture } from '../testing/running/staging-fixture.ts'
import { BlockSource } from './block-source.ts'
import { carOf, directoryDag, fileDag, patternBytes, type TestDag } from './testing-dags.ts'

const CAR = { head: { contentType: 'application/vnd.ipld.car' } }
const ROOM = { fileBytes: 10_000_000, dailyBytes: 100_000_000 }

describe('BlockSource', () => {
  let fixture: StagingFixture
  beforeEach(async () => {
    fixture = await openStagingFixture()
  })
  afterEach(() => fixture.remove())

  const openSource = (within?: string) =>
    new BlockSource({
      records: fixture.records,
      moderation: fixture.moderation,
      blobs: fixture.blobs,
      now: () => fixture.clock.now,
      ...(within === undefined ? {} : { within }),
    })
  const stageFile = async (bytes: Uint8Array, visibility: 'public' | 'private' = 'public') => {
    const dag = await fileDag(bytes, { profile: 'unixfs-v0-2015' })
    await fixture.stage(bytes, { cid: dag.root.toString(), tier: ROOM, head: { visibility } })
    return dag
  }
  const stageCar = async (dag: TestDag, visibility: 'public' | 'private' = 'public') => {
    const bytes = await carOf(dag.root, dag.blocks)
    const head = { ...CAR.head, visibility }
    return (await fixture.stage(bytes, { cid: dag.root.toString(), tier: ROOM, head })).file
  }
  /** What was opened and is not yet closed, and how often anything was opened. */
  const watchOpens = () => {
    const watched = { opens: 0, open: 0 }
    const open = fixture.blobs.open.bind(fixture.blobs)
    vi.spyOn(fixture.blobs, 'open').mockImplementation(async (digest) => {
      const body = await open(digest)
      if (body === undefined) return undefined
      watched.opens += 1
      watched.open += 1
      const close = body.close.bind(body)
      let isClosed = false
      return Object.assign<OpenBlob, Partial<OpenBlob>>(body, {
        async close() {
          if (!isClosed) watched.open -= 1
          isClosed = true
          return close()
        },
      })
    })
    return watched
  }

  it('opens an object once for all of its blocks, and closes it in the end', async () => {
    const dag = await stageFile(patternBytes(12 * 262_144 + 5))
    const watched = watchOpens()
    const source = openSource()
    for (const [cid, block] of dag.blocks) {
      expect(Buffer.compare((await source.get(CID.parse(cid))) ?? Buffer.alloc(0), block)).toBe(0)
    }
    expect(watched).toEqual({ opens: 1, open: 1 })
    await source.close()
    expect(watched.open).toBe(0)
  })

  it('keeps only a few objects open, however many it reads', async () => {
    const cids: CID[] = []
    for (let seed = 1; seed <= 9; seed += 1) {
      const bytes = patternBytes(1000, seed)
      const cid = CID.createV1(0x55, await sha256.digest(bytes))
      await fixture.stage(bytes, { cid: cid.toString(), tier: ROOM })
      cids.push(cid)
    }
    const watched = watchOpens()
    const source = openSource()
    for (const cid of cids) expect(await source.get(cid)).toHaveLength(1000)
    expect(watched.open).toBeLessThanOrEqual(4)
    await source.close()
    expect(watched.open).toBe(0)
  })

  it('error: bytes that have changed are storage_failed, whichever way the block comes about', async () => {
    const file = await stageFile(patternBytes(300_000))
    const directory = await directoryDag({ 'a.txt': Buffer.from('a'), 'b.txt': Buffer.from('b') })
    await stageCar(directory)
    const whole = patternBytes(500, 5)
    const wholeCid = CID.createV1(0x55, await sha256.digest(whole))
    await fixture.stage(whole, { cid: wholeCid.toString(), tier: ROOM })
    const [leaf = ''] = file.blocks.keys()

    const open = fixture.blobs.open.bind(fixture.blobs)
    vi.spyOn(fixture.blobs, 'open').mockImplementation(async (digest) => {
      const body = await open(digest)
      return body === undefined ? undefined : flipped(body)
    })
    const source = openSource()
    for (const cid of [CID.parse(leaf), directory.root, wholeCid]) {
      const found = await source.find(cid)
      expect(found).toMatchObject({ sizeBytes: expect.any(Number) })
      await expect(source.get(cid)).rejects.toMatchObject({
        code: 'storage_failed',
        cause: expect.objectContaining({ message: expect.stringContaining(cid.toString()) }),
      })
    }
    // Made from digests alone, so that the file's bytes do not matter.
    expect(await source.get(file.root)).toEqual(file.blocks.get(file.root.toString()))
    await source.close()
  })

  it('error: a store that fails, and bytes that are gone, are storage_failed and no absence', async () => {
    const dag = await stageFile(patternBytes(300_000))
    const [leaf = ''] = dag.blocks.keys()
    const source = openSource()
    fixture.blobs.fail('open')
    await expect(source.get(CID.parse(leaf))).rejects.toMatchObject({ code: 'storage_failed' })
    expect(await source.get(CID.parse(leaf))).toEqual(dag.blocks.get(leaf))
    await source.close()
  })

  it('finds nothing of private files, nor of those that have ended', async () => {
    const hidden = await stageFile(patternBytes(300_000), 'private')
    const ended = await stageFile(patternBytes(300_001))
    fixture.clock.now += 30 * 86_400_000
    const source = openSource()
    for (const cid of [...hidden.blocks.keys(), ...ended.blocks.keys()]) {
      expect(await source.get(CID.parse(cid))).toBeUndefined()
    }
  })

  it('within one object finds its blocks, public or not, and no others', async () => {
    const directory = await directoryDag({ 'a.txt': Buffer.from('a') })
    const file = await stageCar(directory, 'private')
    const other = await stageFile(patternBytes(300_000))
    const source = openSource(file.object)
    expect(await source.get(directory.root)).toEqual(directory.blocks.get(directory.root.toString()))
    expect(await source.get(other.root)).toBeUndefined()
    await source.close()
  })

  it('has what an identity CID carries, and nothing under a hash that it does not check', async () => {
    const source = openSource()
    expect(await source.get(CID.parse('bafkqaaa'))).toHaveLength(0)
    const bytes = patternBytes(100)
    await fixture.stage(bytes, { tier: ROOM })
    const digest = await sha256.digest(bytes)
    const identityLike = CID.createV1(0x55, {
      ...digest,
      code: 0x16,
      bytes: Uint8Array.from([0x16, 32, ...digest.digest]),
    })
    expect(await source.get(identityLike)).toBeUndefined()
  })
})

/** The same body with the last bit of every chunk flipped. */
function flipped(body: OpenBlob): OpenBlob {
  return {
    ...body,
    async *chunks(range) {
      for await (const chunk of body.chunks(range)) {
        const other = Uint8Array.from(chunk)
        other[other.length - 1] = (other.at(-1) ?? 0) ^ 1
        yield other
      }
    },
  }
}
