import { pieceCidOf } from '@lade/core/content'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { seededBytes } from '../blobs/conformance/seeded-bytes.ts'
import type { Moderation } from '../moderation/moderation.ts'
import { testingModeration } from '../moderation/testing-moderation.ts'
import { blockedNameOf } from '../records/blocked-name.ts'
import type { FileRecord } from '../records/record-store.ts'
import { offeredPiece } from './offered-piece.ts'
import { fakeProvers, openPlacementFixture, type PlacementFixture, provedAt, timesListed } from './testing-placement.ts'

let fixture: PlacementFixture
let moderation: Moderation
beforeEach(async () => {
  fixture = await openPlacementFixture()
  moderation = await testingModeration(fixture.records)
})
afterEach(async () => {
  await moderation.close()
  await fixture.close()
})

const provers = fakeProvers(['one'])

const request = ({ key }: FileRecord) => ({ name: blockedNameOf(key), by: 'admin', now: fixture.clock.now })
const block = async (file: FileRecord) => {
  await fixture.records.takedowns.block({ ...request(file), cid: file.cid, reason: 'A reason.', deletes: false })
  await moderation.refresh()
}
const lift = async (file: FileRecord) => {
  await fixture.records.takedowns.lift(request(file))
  await moderation.refresh()
}
const offered = (pieceCid: string) =>
  offeredPiece({ records: fixture.records, blobs: fixture.blobs, moderation, now: () => fixture.clock.now }, pieceCid)

it('a blocked file leaves its prover, and comes back when it is unblocked', async () => {
  const file = await fixture.put(seededBytes(5000, 1))
  const job = fixture.job(provers)
  await fixture.pass(job)
  expect(provedAt(await fixture.deal(file))).toEqual([['https://one.example']])
  const [piece] = (await fixture.deal(file)).pieces
  if (piece === undefined) throw new TypeError('one piece')
  await block(file)
  await fixture.pass(job, 120_000)
  expect(provedAt(await fixture.deal(file))).toEqual([[]])
  expect(timesListed(provers, piece)).toBe(0)
  expect(job.snapshot().copiesFailed).toBe(0)
  await lift(file)
  await fixture.pass(job, 240_000)
  expect(provedAt(await fixture.deal(file))).toEqual([['https://one.example']])
})

it('a blocked file is not placed that nobody has begun to place', async () => {
  const file = await fixture.put(seededBytes(5000, 2))
  await block(file)
  const job = fixture.job(provers)
  await fixture.pass(job)
  expect((await fixture.deal(file)).pieces).toEqual([])
  await lift(file)
  await fixture.pass(job)
  expect(provedAt(await fixture.deal(file))).toEqual([['https://one.example']])
})

it('an aggregate with a blocked file is dissolved and refused, and its other file goes into another one', async () => {
  const [gone, stays] = [await fixture.put(seededBytes(3000, 3)), await fixture.put(seededBytes(3000, 4))]
  const job = fixture.job(provers, { aggregateBelowBytes: 10_000, aggregateSeconds: 1 })
  await fixture.pass(job, 120_000)
  const [before] = (await fixture.deal(stays)).pieces
  if (before === undefined) throw new TypeError('one aggregate')
  expect(await offered(pieceCidOf(before))).toBeDefined()
  await block(gone)
  expect(await offered(pieceCidOf(before))).toBeUndefined()
  expect(moderation.content.ofObject(gone.object)).toBeDefined()
  await fixture.pass(job, 240_000)
  const [after] = (await fixture.deal(stays)).pieces
  if (after === undefined) throw new TypeError('another aggregate')
  expect(after.pieceRoot).not.toBe(before.pieceRoot)
  expect(timesListed(provers, before)).toBe(0)
  expect(provedAt(await fixture.deal(stays))).toEqual([['https://one.example']])
})

it('bytes that are just offered to a prover are refused once they are blocked', async () => {
  const file = await fixture.put(seededBytes(3000, 5))
  const { object, sizeBytes, pieceRoot } = file
  if (pieceRoot === null) throw new TypeError('a piece')
  const until = fixture.clock.now + 60_000
  await fixture.records.offers.open({ id: 'offer', pieceRoot, sizeBytes, object, offsetBytes: 0, until })
  const pieceCid = pieceCidOf({ pieceRoot, sizeBytes })
  expect(await offered(pieceCid)).toBeDefined()
  await block(file)
  await expect(offered(pieceCid)).rejects.toMatchObject({ code: 'blocked' })
})
