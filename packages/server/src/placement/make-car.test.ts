import { pieceCidOf } from '@lade/core/content'
import { DagHasher, IMPORT_PROFILES, type ImportProfileName } from '@lade/core/dag'
import { DAY_MS } from '@lade/core/time'
import { sha256 } from '@lade/node/hashing/sha256'
import { CID } from 'multiformats/cid'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type FakeProver, openFakeProver, type ProverCall } from '../proving/fake-prover.ts'
import type { DealRecord, FileRecord } from '../records/record-store.ts'
import { fileDag, patternBytes, readCar } from '../retrieval/testing-dags.ts'
import { offeredPiece } from './offered-piece.ts'
import { openPlacementFixture, type PlacementFixture, type PutOptions } from './testing-placement.ts'

const BYTES = patternBytes(2_500_000)
const CURIO = { name: 'https://curio.example', announcesBlocks: true, auditedBy: 'retrieval' } as const

type ProfileName = 'unixfs-v0-2015' | 'unixfs-v1-2025'

describe('the CAR of a public file with blocks', () => {
  let fixture: PlacementFixture
  let curio: FakeProver
  let other: FakeProver
  beforeEach(async () => {
    fixture = await openPlacementFixture()
    curio = openFakeProver(CURIO)
    other = openFakeProver({ name: 'https://other.example' })
  })
  afterEach(() => fixture.close())

  const put = (profile: ImportProfileName, options: PutOptions = {}): Promise<FileRecord> => {
    const hasher = new DagHasher({ profiles: [IMPORT_PROFILES[profile]], sizeBytes: BYTES.length, sha256 })
    hasher.update(BYTES)
    const dags = hasher.finish().map(({ digests }) => ({ kind: 'import', profile, digests }) as const)
    return fixture.put(BYTES, { dags, ...options })
  }
  const jobOf = (provers: readonly FakeProver[], ipfsCopies = 1) => fixture.job(provers, { ipfsCopies })
  const isOfAdd = (call: ProverCall): call is Extract<ProverCall, { method: 'add' }> => call.method === 'add'
  const carOf = async (file: FileRecord): Promise<NonNullable<DealRecord['car']>> => {
    const { car } = await fixture.deal(file)
    if (car === null) throw new Error('the file has no CAR')
    return car
  }

  it.each<ProfileName>(['unixfs-v0-2015', 'unixfs-v1-2025'])(
    'is a piece of its own, in a data set of its own, beside the bytes of the file (%s)',
    async (profile) => {
      const file = await put(profile)
      await fixture.pass(jobOf([curio]))
      const deal = await fixture.deal(file)
      const car = await carOf(file)
      const reference = await fileDag(BYTES, { profile })
      expect(car.rootCid).toBe(reference.root.toV1().toString())
      // The file is what it was without: its own bytes, active by its own copy.
      const own = { pieceRoot: file.pieceRoot ?? '', sizeBytes: BYTES.length }
      expect(deal).toMatchObject({ status: 'active', pieces: [{ ...own, copies: [{ state: 'stored' }] }] })
      expect(car.copies).toMatchObject([{ prover: CURIO.name, state: 'stored', provedAt: expect.any(Number) }])
      expect(car.copies[0]?.dataSetId).not.toBe(deal.pieces[0]?.copies[0]?.dataSetId)
      expect(curio.calls.filter(isOfAdd).map(({ addition }) => [addition.pieceCids, addition.ipfsRootCids])).toEqual([
        [[pieceCidOf(own)], undefined],
        [[pieceCidOf(car)], [car.rootCid]],
      ])

      const sent = curio.parked.get(pieceCidOf(car)) ?? new Uint8Array()
      const read = await readCar(sent)
      expect(read.roots).toEqual([car.rootCid])
      expect(read.cids[0]).toBe(car.rootCid)
      const blocks = [...reference.blocks.keys()].map((cid) => CID.parse(cid).toV1().toString())
      expect(new Set(read.cids)).toEqual(new Set(blocks))
    },
  )

  it('is given to provers that fetch it, any part of it, while the file is there', async () => {
    const file = await put('unixfs-v1-2025')
    await fixture.pass(jobOf([curio]))
    const pieceCid = pieceCidOf(await carOf(file))
    const { records, blobs } = fixture
    const deps = { records, blobs, now: () => fixture.clock.now, moderation: { content: NOTHING_BLOCKED } }
    const offered = await offeredPiece(deps as never, pieceCid)
    const whole = curio.parked.get(pieceCid) ?? new Uint8Array()
    for (const [offset, length] of [
      [0, 10],
      [58, 3],
      [1_000_000, 200_000],
      [whole.length - 1, 1],
      [0, whole.length],
    ] as const) {
      const bytes = (await offered?.read(offset, length)) ?? new Uint8Array()
      expect(Buffer.compare(bytes, whole.subarray(offset, offset + length))).toBe(0)
    }
    await fixture.remove(file)
    await fixture.pass(jobOf([curio]), 60_000)
    expect(await offeredPiece(deps as never, pieceCid)).toBeUndefined()
    expect([...curio.dataSets.values()].flat().filter((piece) => piece !== null)).toEqual([])
  })

  it('goes only to provers that announce blocks, as many of them as the setting says', async () => {
    const second = openFakeProver({ ...CURIO, name: 'https://second.example' })
    const file = await put('unixfs-v1-2025')
    await fixture.pass(fixture.job([other, curio, second], { ipfsCopies: 2, copies: 3 }), 120_000)
    const { copies } = await carOf(file)
    expect(copies.map(({ prover }) => prover).toSorted()).toEqual([CURIO.name, second.name])
    expect(other.parked.size).toBe(1)
  })

  it.each<[string, () => Promise<FileRecord>, number]>([
    ['without the setting', () => put('unixfs-v1-2025'), 0],
    ['of a private file', () => put('unixfs-v1-2025', { visibility: 'private' }), 1],
    ['of a file without blocks', () => fixture.put(BYTES), 1],
  ])('is not made %s', async (_, putFile, ipfsCopies) => {
    const file = await putFile()
    await fixture.pass(jobOf([curio], ipfsCopies))
    expect((await fixture.deal(file)).car).toBeNull()
    expect(await fixture.records.placements.carCandidates({ limit: 10 })).toHaveLength(ipfsCopies === 0 ? 1 : 0)
  })

  it('is not made where no prover announces blocks', async () => {
    const file = await put('unixfs-v1-2025')
    await fixture.pass(jobOf([other]))
    expect((await fixture.deal(file)).car).toBeNull()
  })

  it('is made for files from before the setting, and stays when it is off again', async () => {
    const file = await put('unixfs-v1-2025')
    const before = jobOf([curio], 0)
    await fixture.pass(before)
    await before.stop()
    const job = jobOf([curio])
    await fixture.pass(job)
    await job.stop()
    await fixture.pass(jobOf([curio], 0), DAY_MS, 3_600_000)
    expect((await carOf(file)).copies).toMatchObject([{ state: 'stored', endedAt: null }])
  })

  it('is not made of bytes that are damaged, and the file keeps its own copies', async () => {
    const profile = 'unixfs-v1-2025'
    const hasher = new DagHasher({ profiles: [IMPORT_PROFILES[profile]], sizeBytes: BYTES.length, sha256 })
    hasher.update(patternBytes(BYTES.length, 2))
    const dags = hasher.finish().map(({ digests }) => ({ kind: 'import', profile, digests }) as const)
    const file = await fixture.put(BYTES, { dags })
    await fixture.pass(jobOf([curio]))
    const deal = await fixture.deal(file)
    expect(deal).toMatchObject({ status: 'active', car: null })
    expect(fixture.logLines.join()).toContain('a file gets no CAR')
  })
})

const NOTHING_BLOCKED = { hasTakenDownObjects: false, ofObject: () => undefined }
