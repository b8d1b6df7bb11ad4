import { dealEntry } from '@lade/core/wire'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { pageCursors } from '../files/page-cursor.ts'
import type { FileRecord } from '../records/record-store.ts'
import { openStagingFixture, PRINCIPAL, type StagingFixture } from '../testing/running/staging-fixture.ts'
import { SigningKey } from '../tokens/signing-key.ts'
import { dealEntryOf } from './deal-entry.ts'
import { fullDeals } from './full-deals.ts'
import { listDeals } from './list-deals.ts'
import { ownDeal } from './own-deal.ts'

const KEY = await SigningKey.fromBytes(Buffer.alloc(32, 1))
const cursors = pageCursors(() => KEY, { listing: 'deals', principal: PRINCIPAL })
const urlOf = (cid: string): string => `https://example.org/p/${cid}`
const bytesOf = (index: number): Buffer => Buffer.from(`file ${index}`)

describe('deals', () => {
  let fixture: StagingFixture
  beforeEach(async () => {
    fixture = await openStagingFixture()
  })
  afterEach(() => fixture.remove())

  const stage = async (count: number) => {
    const files = []
    for (let index = 0; index < count; index += 1) files.push((await fixture.stage(bytesOf(index))).file)
    return files
  }
  const list = (asked: { cursor?: string; limit?: string; status?: string } = {}) =>
    listDeals(fixture.records, { principal: PRINCIPAL, now: fixture.clock.now, cursors, ...asked })
  const remove = (index: number) =>
    fixture.records.files.remove({
      principal: PRINCIPAL,
      key: `sha256:${sha256Hex(bytesOf(index))}`,
      now: fixture.clock.now,
    })

  it('are listed newest first and page by page', async () => {
    const files = await stage(5)
    const first = await list({ limit: '2' })
    expect(first.files).toEqual([files[4], files[3]])
    const second = await list({ limit: '3', cursor: first.nextCursor ?? '' })
    expect(second).toEqual({ files: [files[2], files[1], files[0]], nextCursor: null })
  })

  it('are listed with those that have ended, unless a status is asked for', async () => {
    await stage(3)
    await remove(1)
    expect((await list()).files).toHaveLength(3)
    expect((await list({ status: 'proposed' })).files).toHaveLength(2)
    expect((await list({ status: 'staged' })).files).toEqual([])
    expect((await list({ status: 'removed' })).files).toHaveLength(1)
    expect((await list({ status: 'expired' })).files).toEqual([])
  })

  it('of a file that was staged again after its end are two', async () => {
    const [file] = await stage(1)
    fixture.clock.now += 1000
    await remove(0)
    const again = (await fixture.stage(bytesOf(0))).file
    const ended = await ownDeal(fixture.records, { principal: PRINCIPAL, dealId: file?.dealId ?? '' })
    expect(ended).toMatchObject({ end: 'removed', sequence: file?.sequence })
    expect((await list()).files).toEqual([again, ended])
    expect(await ownDeal(fixture.records, { principal: PRINCIPAL, dealId: again.dealId })).toEqual(again)
  })

  it.each([
    ['a status that is none', { status: 'composed' }],
    ['a limit that is none', { limit: '1001' }],
    ['a cursor that is none', { cursor: '-' }, 'invalid_cursor'],
  ])('refuses %s', async (_title, asked, code = 'bad_request') => {
    await expect(list(asked)).rejects.toMatchObject({ code })
  })

  it('are found by their id, by nobody but their principal', async () => {
    const [file] = await stage(2)
    const dealId = file?.dealId ?? ''
    expect(await ownDeal(fixture.records, { principal: PRINCIPAL, dealId })).toEqual(file)
    for (const other of [
      { principal: 'user:2', dealId },
      { principal: PRINCIPAL, dealId: `${dealId}0` },
    ]) {
      await expect(ownDeal(fixture.records, other)).rejects.toMatchObject({ code: 'not_found' })
    }
  })

  it('are shown with their status and its time', async () => {
    const [file] = await stage(1)
    if (file === undefined) throw new Error('no file')
    const { now } = fixture.clock
    const entryOf = async (shown: FileRecord, at: number) => {
      const [deal] = await fullDeals(fixture.records, [shown])
      return deal && dealEntry.parse(dealEntryOf(deal, urlOf, at))
    }
    expect(await entryOf(file, now)).toEqual({
      dealId: file.dealId,
      cid: file.cid,
      pieceCid: expect.stringMatching(/^bafkzcib/),
      size: 6,
      status: 'proposed',
      statusAt: '2026-11-21T12:00:00.000Z',
      cause: null,
      term: '30 days',
      createdAt: '2026-11-21T12:00:00.000Z',
      expiresAt: '2026-12-21T12:00:00.000Z',
      endedAt: null,
      storedAt: null,
      provedAt: null,
      retrievableAt: null,
      redundancy: 1,
      provedCopies: 0,
      onchainDealId: null,
      syntheticDealId: file.dealId,
      aggregate: null,
      copies: [expect.objectContaining({ prover: 'reference', state: 'parked', storedAt: null, endedAt: null })],
      ipfs: null,
      retrievalUrl: urlOf(file.cid),
    })
    // Past its term and not swept yet.
    const expired = { status: 'expired', endedAt: '2026-12-21T12:00:00.000Z' }
    expect(await entryOf(file, file.expiresAt)).toMatchObject(expired)
    const removed = await remove(0)
    if (removed === undefined) throw new Error('no file')
    expect(await entryOf(removed, now)).toMatchObject({ status: 'removed', endedAt: '2026-11-21T12:00:00.000Z' })
  })

  it('show the state of each copy on the chain, and what was escrowed, paid and returned', async () => {
    const [file] = await stage(1)
    if (file === undefined) throw new Error('no file')
    const [deal] = await fullDeals(fixture.records, [file])
    const copy = deal?.placed?.pieces[0]?.copies[0]
    if (deal === undefined || copy === undefined) throw new Error('no copy')
    const address = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
    const contract = `eip155:8453:${address}`
    const { escrow } = fixture.records
    const changes = [
      { onchainId: '41', kind: 'proposed', microUsdc: 23_400_000 },
      { onchainId: '41', kind: 'withdrawn', microUsdc: 23_400_000 },
    ] as const
    await escrow.apply({ contract, after: undefined, to: 9, changes, now: fixture.clock.now })
    const proposed = { state: 'final', transaction: 1, position: 0, endsAt: null, reverts: 0 } as const
    const onchain = [{ copy: copy.id, prover: copy.prover, contract, onchainId: '41', ...proposed }]
    const escrows = await escrow.find([{ contract, onchainId: '41' }])
    const entry = dealEntry.parse(dealEntryOf({ ...deal, onchain, escrows }, urlOf, fixture.clock.now))
    expect(entry.onchainDealId).toBe('41')
    expect(entry.copies[0]?.onchain).toEqual({
      ...{ chainId: 8453, contract: address, dealId: '41', state: 'withdrawn', endsAt: null },
      ...{ escrowed: '23.4', paid: '0', returned: '23.4', bond: '0', forfeited: '0' },
    })
    // The CAR of a file has deals of its own, and none of them is that of the file.
    const { pieceRoot, sizeBytes } = file
    const rootCid = 'bafybeif2ot3tvdmk5xpkputgjofyauxmnmu26xyctpj63stci34bk7ujf4'
    const car = { file: file.sequence, pieceRoot: pieceRoot ?? '', sizeBytes: sizeBytes + 1, rootCid, profile: 'none' }
    await fixture.records.placements.addCar({ ...car, copies: 1, now: fixture.clock.now })
    const [withCar] = await fullDeals(fixture.records, [file])
    if (withCar?.placed?.car == null) throw new Error('no CAR')
    const placed = { ...withCar.placed, car: { ...withCar.placed.car, copies: [{ ...copy, id: copy.id + 1 }] } }
    const ofCar = onchain.map((chained) => ({ ...chained, copy: copy.id + 1 }))
    const shown = dealEntry.parse(dealEntryOf({ file, placed, onchain: ofCar, escrows }, urlOf, fixture.clock.now))
    expect(shown).toMatchObject({ onchainDealId: null, ipfs: { rootCid, copies: [{ onchain: { dealId: '41' } }] } })
    const unknown = dealEntryOf({ ...deal, onchain, escrows: [] }, urlOf, fixture.clock.now)
    expect(unknown.copies[0]?.onchain).toBeNull()
  })
})
