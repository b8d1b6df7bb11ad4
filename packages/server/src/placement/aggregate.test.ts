import { pieceCidOf } from '@lade/core/content'
import { indexEntryCount, rawOffsetBytes, verifyInclusion } from '@lade/core/piece'
import { Aggregate as DataSegmentAggregate, Piece } from '@web3-storage/data-segment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { seededBytes } from '../blobs/conformance/seeded-bytes.ts'
import type { FakeProver } from '../proving/fake-prover.ts'
import type { DealRecord, FileRecord } from '../records/record-store.ts'
import { inclusionOf } from './inclusion.ts'
import { pieceBytes } from './piece-bytes.ts'
import type { PlacementJob } from './placement-job.ts'
import { fakeProvers, openPlacementFixture, type PlacementFixture, timesListed } from './testing-placement.ts'

const KIB = 1024
const TARGET = { aggregateBelowBytes: 100 * KIB, aggregateTargetBytes: 128 * KIB, aggregateSeconds: 60 }

describe('aggregation', () => {
  let fixture: PlacementFixture
  let prover: FakeProver
  let job: PlacementJob
  beforeEach(async () => {
    fixture = await openPlacementFixture()
    const [only] = fakeProvers(['one'])
    if (only === undefined) throw new TypeError('a prover')
    prover = only
    job = fixture.job([prover], TARGET)
  })
  afterEach(() => fixture.close())

  const pieceOf = ({ pieces }: DealRecord) => {
    const [piece] = pieces
    if (piece === undefined) throw new Error('the deal has no piece')
    return piece
  }
  const putAll = async (sizes: readonly number[]): Promise<FileRecord[]> => {
    const files: FileRecord[] = []
    for (const [seed, size] of sizes.entries()) files.push(await fixture.put(seededBytes(size, seed + 1)))
    return files
  }

  it('waits for files that fill an aggregate, then sends them as one piece that is proved', async () => {
    const files = await putAll([40 * KIB, 20 * KIB, 100])
    await fixture.pass(job, 20_000)
    expect(await fixture.deal(files[0] as FileRecord)).toMatchObject({ status: 'staged', pieces: [] })
    expect(prover.calls).toEqual([])
    const last = await fixture.put(seededBytes(33 * KIB, 9))
    await fixture.pass(job, 50_000)
    const deals = await Promise.all(files.map((file) => fixture.deal(file)))
    expect(deals.map(({ status }) => status)).toEqual(['active', 'active', 'active'])
    expect(new Set(deals.map((deal) => pieceOf(deal).id)).size).toBe(1)
    // It did not fit any more, and is the next one's.
    expect((await fixture.deal(last)).pieces).toEqual([])
    const [deal] = deals as [DealRecord]
    expect(deal.pieces[0]).toMatchObject({ source: { kind: 'aggregate' }, sizeBytes: 127 * KIB })
    expect(prover.parked.get(pieceCidOf(pieceOf(deal)))?.length).toBe(127 * KIB)
  })

  it('waits no longer than it may, and takes the smallest tree that fits', async () => {
    const [file] = await putAll([300])
    await fixture.pass(job, 50_000)
    expect((await fixture.deal(file as FileRecord)).pieces).toEqual([])
    await fixture.pass(job, 60_000)
    const deal = await fixture.deal(file as FileRecord)
    expect(deal).toMatchObject({ status: 'active', pieces: [{ sizeBytes: 127 * 8, paddedOffsetBytes: 0 }] })
    expect(job.snapshot().aggregatesMade).toBe(1)
  })

  it('is full when its index is', async () => {
    const count = indexEntryCount(12)
    const files = await putAll(Array.from({ length: count + 1 }, (_, index) => 100 + index))
    await fixture.pass(job, 10_000)
    const deals = await fixture.records.placements.deals(files.map(({ sequence }) => sequence))
    expect(deals.filter(({ pieces }) => pieces.length === 1)).toHaveLength(count)
  })

  it('gives files of the same bytes one place', async () => {
    const bytes = seededBytes(500, 1)
    const files = [
      await fixture.put(bytes),
      await fixture.put(bytes, { principal: 'user:2' }),
      ...(await putAll([600])),
    ]
    await fixture.pass(job, 120_000)
    const deals = await Promise.all(files.map((file) => fixture.deal(file)))
    const offsets = deals.map((deal) => pieceOf(deal).paddedOffsetBytes)
    expect(offsets[0]).toBe(offsets[1])
    expect(offsets[2]).not.toBe(offsets[0])
    expect(await fixture.records.placements.membersOf(pieceOf(deals[0] as DealRecord).id)).toHaveLength(2)
  })

  it('has the root and the inclusion proofs that another implementation computes', async () => {
    const sizes = [5000, 127, 20_000, 1016]
    const files = await putAll(sizes)
    await fixture.pass(job, 120_000)
    const links = sizes.map((size, seed) => Piece.fromPayload(seededBytes(size, seed + 1)))
    const bySize = links.toSorted((a, b) => Number(b.size - a.size))
    const first = pieceOf(await fixture.deal(files[0] as FileRecord))
    const padded = BigInt((first.sizeBytes / 127) * 128)
    const theirs = DataSegmentAggregate.build({ pieces: bySize, size: DataSegmentAggregate.Size.from(padded) })
    expect(pieceCidOf(first)).toBe(theirs.link.toString())
    for (const [at, file] of files.entries()) {
      const piece = pieceOf(await fixture.deal(file))
      const paddedOffsetBytes = piece.paddedOffsetBytes ?? -1
      const inclusion = await inclusionOf(fixture.records, { piece, paddedOffsetBytes })
      if (inclusion === undefined) throw new Error('no proof')
      expect(verifyInclusion(inclusion)).toBe(true)
      const link = links[at]?.link
      const { segment, entry } = inclusion.proof
      expect(link && theirs.resolveProof(link).ok).toEqual([
        [BigInt(segment.position), segment.siblings],
        [BigInt(entry.position), entry.siblings],
      ])
      const range = await pieceBytes(fixture, piece).read(rawOffsetBytes(paddedOffsetBytes), file.sizeBytes)
      expect(Buffer.compare(range, seededBytes(sizes[at] ?? 0, at + 1))).toBe(0)
    }
    expect(await inclusionOf(fixture.records, { piece: first, paddedOffsetBytes: 1 })).toBeUndefined()
  })

  it('is as high as every prover wants pieces to be', async () => {
    const provers = fakeProvers(['picky'], { limits: { minimumBytes: 10_000 } })
    const file = await fixture.put(seededBytes(200, 1))
    await fixture.pass(fixture.job(provers, TARGET), 120_000)
    expect(await fixture.deal(file)).toMatchObject({ status: 'active', pieces: [{ sizeBytes: 127 * 128 }] })
  })

  it('goes without a file that ended while it waited', async () => {
    const [gone, kept] = await putAll([300, 400])
    await fixture.pass(job, 20_000)
    await fixture.remove(gone as FileRecord)
    await fixture.pass(job, 120_000)
    const { id } = pieceOf(await fixture.deal(kept as FileRecord))
    expect(await fixture.records.placements.membersOf(id)).toHaveLength(1)
  })

  it('stays while one of its files is needed, and leaves the data set with the last', async () => {
    const [one, two] = await putAll([300, 400])
    await fixture.pass(job, 120_000)
    const piece = pieceOf(await fixture.deal(two as FileRecord))
    await fixture.remove(one as FileRecord)
    await fixture.pass(job)
    expect((await fixture.deal(two as FileRecord)).status).toBe('active')
    expect(timesListed([prover], piece)).toBe(1)
    await fixture.remove(two as FileRecord)
    await fixture.pass(job)
    expect(timesListed([prover], piece)).toBe(0)
  })

  it('is taken apart when it has to be sent again and some of its files are gone, and the others are placed anew', async () => {
    const [gone, kept, keptToo] = await putAll([300, 400, 500])
    await fixture.pass(job, 120_000)
    const before = pieceOf(await fixture.deal(kept as FileRecord))
    await fixture.remove(gone as FileRecord)
    prover.lose(pieceCidOf(before))
    fixture.clock.now += 1.1 * 86_400_000
    await fixture.pass(job, 600_000, 20_000)
    const deals = await Promise.all([kept, keptToo].map((file) => fixture.deal(file as FileRecord)))
    expect(deals.map(({ status }) => status)).toEqual(['active', 'active'])
    expect(pieceOf(deals[0] as DealRecord).id).not.toBe(before.id)
    expect(pieceOf(deals[1] as DealRecord).id).toBe(pieceOf(deals[0] as DealRecord).id)
    expect(job.snapshot().aggregatesDissolved).toBe(1)
  })

  it('is moved as it is when all of its files are here', async () => {
    const provers = fakeProvers(['a', 'b'])
    const moving = fixture.job(provers, { ...TARGET, instanceId: 'instance-1' })
    const [one] = await putAll([300, 400])
    await fixture.pass(moving, 120_000)
    const piece = pieceOf(await fixture.deal(one as FileRecord))
    provers.find(({ name }) => name === piece.copies[0]?.prover)?.lose(pieceCidOf(piece))
    fixture.clock.now += 1.1 * 86_400_000
    await fixture.pass(moving, 60_000)
    const after = pieceOf(await fixture.deal(one as FileRecord))
    expect(after.id).toBe(piece.id)
    expect(after.copies.map(({ state }) => state)).toEqual(['failed', 'stored'])
  })
})
