import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import type { NewOpenUpload, OpenUploadKind, RecordStore, ReserveOutcome } from '../record-store.ts'
import {
  ALICE,
  account,
  BOB,
  type Cases,
  claim,
  commit,
  counted,
  fileCommitOf,
  HOUR,
  NOW,
  overBytes,
  pending,
  stage,
  times,
  type Upload,
  upload,
} from './case.ts'

const DAY_LATER = NOW + 24 * HOUR

interface Opening {
  readonly of?: Upload
  readonly kind?: OpenUploadKind
  readonly grows?: boolean
  readonly maxOpen?: number
}

async function tryOpen(
  store: RecordStore,
  { of = upload(), kind = 'whole', grows = false, maxOpen = 100 }: Opening = {},
): Promise<{ opened: NewOpenUpload; outcome: ReserveOutcome }> {
  const id = randomUUID()
  const opened: NewOpenUpload = {
    id,
    principal: of.principal,
    tier: 'token',
    kind,
    reservationId: `reservation-of-${id}`,
    sizeBytes: grows ? undefined : of.sizeBytes,
    head: '{"contentType":"text/plain"}',
    metadata: 'filename d29ybGQ=',
    expiresAt: DAY_LATER,
  }
  const reserve = {
    ...of,
    sizeBytes: grows ? 1 : of.sizeBytes,
    grows,
    reservationId: opened.reservationId,
    instanceId: '',
    leaseUntil: DAY_LATER,
  }
  const request = { upload: opened, reserve: kind === 'final' ? undefined : reserve, maxOpen, now: of.now }
  return { opened, outcome: await store.openUploads.create(request) }
}

async function open(store: RecordStore, opening?: Opening): Promise<NewOpenUpload> {
  const { opened, outcome } = await tryOpen(store, opening)
  expect(outcome).toMatchObject({ outcome: 'reserved' })
  return opened
}

const find = (store: RecordStore, { id }: { id: string }, now = NOW) => store.openUploads.find({ id, now })

export function openUploadCases({ it, itWithTwo, itAcrossRestart }: Cases): void {
  it('reserves what an upload will bring, and says what is durable of it', async (store) => {
    const opened = await open(store, { of: upload({ sizeBytes: 400 }) })
    expect(await account(store)).toEqual({ charged: 0, reserved: 400, stored: 0 })
    const fresh = { ...opened, durableBytes: 0, place: '', writer: undefined, cid: undefined }
    expect(await find(store, opened)).toEqual(fresh)
    const { id } = opened
    const taken = await store.openUploads.take({ id, writer: 'a/1', now: NOW })
    expect(taken).toEqual({ outcome: 'taken', upload: { ...fresh, writer: 'a/1' } })
    const expiresAt = DAY_LATER + 5
    const advance = { id, writer: 'a/1', durableBytes: 150, place: 'there', expiresAt }
    expect(await store.openUploads.advance(advance)).toBe(true)
    await store.openUploads.giveBack({ id, writer: 'a/1' })
    expect(await find(store, opened)).toEqual({ ...fresh, durableBytes: 150, place: 'there', expiresAt })
    expect(await store.openUploads.known([id, 'other'])).toEqual([id])
  })

  itAcrossRestart('keeps an upload, and its reservation, when its instance has ended', async (store, restart) => {
    const opened = await open(store, { of: upload({ sizeBytes: 400, instanceId: 'instance-a' }) })
    const again = await restart()
    await again.instances.deregister({ instanceId: 'instance-a', now: NOW })
    await again.quotas.releaseExpired({ now: DAY_LATER - 1 })
    expect(await find(again, opened)).toMatchObject({ id: opened.id })
    expect(await account(again)).toMatchObject({ reserved: 400 })
  })

  it('does not count open uploads as uploads in flight, and limits how many there are', async (store) => {
    for (const content of ['one', 'two', 'three'])
      await open(store, { of: upload({ content, sizeBytes: 1, maxInFlight: 1 }), maxOpen: 3 })
    const { outcome } = await tryOpen(store, { maxOpen: 3 })
    expect(outcome).toEqual({ outcome: 'too_many_in_flight', inFlight: 3 })
    await stage(store, upload({ content: 'at once', sizeBytes: 1, maxInFlight: 1 }))
  })

  it('refuses what does not fit, and keeps nothing of it', async (store) => {
    await open(store, { of: upload({ sizeBytes: 700 }) })
    const { opened, outcome } = await tryOpen(store, { of: upload({ content: 'more', sizeBytes: 301 }) })
    expect(outcome).toEqual(overBytes(700))
    expect(await find(store, opened)).toBeUndefined()
  })

  it('becomes a file, which is charged once, in the commit', async (store) => {
    const of = upload({ sizeBytes: 400 })
    const { id, reservationId } = await open(store, { of })
    await claim(store, reservationId, of)
    const completes = { id, partIds: [] }
    const committed = await store.quotas.commit({ reservationId, ...fileCommitOf(of, 'd-0x1'), completes })
    expect(committed).toMatchObject({ outcome: 'recorded', usedBytes: 400 })
    expect(await account(store)).toEqual({ charged: 400, reserved: 0, stored: 400 })
    expect(await find(store, { id })).toMatchObject({ durableBytes: 400, sizeBytes: 400, cid: `cid-of-${of.content}` })
    expect(await store.openUploads.known([id])).toEqual([])
    expect(await store.openUploads.expire({ now: DAY_LATER, limit: 10 })).toEqual([id])
    expect(await account(store)).toEqual({ charged: 400, reserved: 0, stored: 400 })
  })

  it('is complete also where its file is there already, and charges nothing then', async (store) => {
    const of = upload({ sizeBytes: 400 })
    const { id, reservationId } = await open(store, { of })
    await stage(store, of)
    const completes = { id, partIds: [] }
    const committed = await store.quotas.commit({ reservationId, ...fileCommitOf(of, 'd-0x1'), completes })
    expect(committed).toMatchObject({ outcome: 'retry' })
    expect(await account(store)).toEqual({ charged: 400, reserved: 0, stored: 400 })
    expect(await find(store, { id })).toMatchObject({ durableBytes: 400 })
  })

  it('has one writer, who loses it to the one that is named after him', async (store) => {
    const { id } = await open(store)
    const take = (writer: string, from?: string) => store.openUploads.take({ id, writer, from, now: NOW })
    expect(await take('a/1')).toMatchObject({ outcome: 'taken' })
    expect(await take('b/1')).toEqual({ outcome: 'held', writer: 'a/1' })
    expect(await take('b/1', 'a/1')).toMatchObject({ outcome: 'taken' })
    const advance = { id, durableBytes: 10, place: 'x', expiresAt: DAY_LATER }
    expect(await store.openUploads.advance({ ...advance, writer: 'a/1' })).toBe(false)
    await store.openUploads.giveBack({ id, writer: 'a/1' })
    expect(await find(store, { id })).toMatchObject({ writer: 'b/1', durableBytes: 0 })
    expect(await store.openUploads.advance({ ...advance, writer: 'b/1', isLast: true })).toBe(true)
    expect(await find(store, { id })).toMatchObject({ writer: undefined, durableBytes: 10 })
  })

  itWithTwo('gives one of many the pen, through two handles', async (store, other) => {
    const { id } = await open(store)
    const takers = times(20, (index) =>
      (index % 2 === 0 ? store : other).openUploads.take({ id, writer: `w/${index}`, now: NOW }),
    )
    expect(counted(await Promise.all(takers))).toEqual({ taken: 1, held: 19 })
  })

  it('learns its size later, once', async (store) => {
    const { id, reservationId } = await open(store, { grows: true })
    expect(await account(store)).toMatchObject({ reserved: 0 })
    const { principal, key } = upload()
    const growth = { reservationId, principal, key, leastBytes: 300, wantedBytes: 300, now: NOW }
    expect(await store.quotas.grow(growth)).toEqual({ outcome: 'grown', allowedBytes: 300 })
    await store.openUploads.take({ id, writer: 'a', now: NOW })
    const advance = { id, writer: 'a', durableBytes: 0, place: '', expiresAt: DAY_LATER }
    await store.openUploads.advance({ ...advance, sizeBytes: 300 })
    await store.openUploads.advance({ ...advance, sizeBytes: 500 })
    expect(await find(store, { id })).toMatchObject({ sizeBytes: 300 })
  })

  it('returns its reservation once, and has what it had claimed removed', async (store) => {
    const of = upload({ sizeBytes: 400 })
    const { id, reservationId } = await open(store, { of })
    await claim(store, reservationId, of)
    expect(await store.openUploads.end({ id, now: NOW })).toBe(true)
    expect(await store.openUploads.end({ id, now: NOW })).toBe(false)
    expect(await account(store)).toEqual({ charged: 0, reserved: 0, stored: 0 })
    expect(await pending(store)).toHaveLength(1)
    expect(await commit(store, reservationId, of)).toEqual({ outcome: 'lost' })
  })

  it('has what it had claimed removed when it claims other bytes', async (store) => {
    const [one, other] = [upload({ content: 'one' }), upload({ content: 'other' })]
    const { reservationId } = await open(store, { of: one })
    await claim(store, reservationId, one)
    expect(await pending(store)).toEqual([])
    await claim(store, reservationId, other)
    expect(await pending(store)).toHaveLength(1)
    await claim(store, reservationId, one)
    expect(await pending(store)).toHaveLength(1)
  })

  it('expires, oldest first, and is not found any more from then on', async (store) => {
    const opened = await open(store, { of: upload({ sizeBytes: 400 }) })
    expect(await store.openUploads.expire({ now: DAY_LATER - 1, limit: 10 })).toEqual([])
    expect(await find(store, opened, DAY_LATER)).toBeUndefined()
    expect(await store.openUploads.take({ id: opened.id, writer: 'a', now: DAY_LATER })).toEqual({ outcome: 'absent' })
    expect(await store.openUploads.expire({ now: DAY_LATER, limit: 10 })).toEqual([opened.id])
    expect(await account(store)).toMatchObject({ reserved: 0 })
  })

  it('uses the reservations of its parts for a concatenation, also with no room for a byte', async (store) => {
    const parts = [
      await open(store, { of: upload({ content: 'a', sizeBytes: 600 }), kind: 'partial' }),
      await open(store, { of: upload({ content: 'b', sizeBytes: 400 }), kind: 'partial' }),
    ]
    const whole = upload({ content: 'ab', sizeBytes: 1_000 })
    const final = await open(store, { of: whole, kind: 'final' })
    const [reservationId = ''] = parts.map((part) => part.reservationId)
    const completes = { id: final.id, partIds: parts.map(({ id }) => id) }
    const committed = await store.quotas.commit({ reservationId, ...fileCommitOf(whole, 'd-0x1'), completes })
    expect(committed).toMatchObject({ outcome: 'recorded', usedBytes: 1_000 })
    expect(await account(store)).toEqual({ charged: 1_000, reserved: 0, stored: 1_000 })
    expect(await store.openUploads.known(completes.partIds)).toEqual([])
    expect(await find(store, final)).toMatchObject({ durableBytes: 1_000, cid: 'cid-of-ab' })
  })

  it('ends with all that is erased of its principal', async (store) => {
    const opened = await open(store, { of: upload({ sizeBytes: 400 }) })
    const other = await open(store, { of: upload({ principal: BOB, sizeBytes: 300 }) })
    await store.erasure.signIns({ principal: ALICE, sub: undefined, email: undefined, by: 'operator', now: NOW })
    expect(await find(store, opened)).toBeUndefined()
    expect(await account(store)).toMatchObject({ reserved: 0 })
    expect(await find(store, other)).toBeDefined()
  })

  it('leaves the reservations of parts when a concatenation is given up', async (store) => {
    const part = await open(store, { of: upload({ sizeBytes: 600 }), kind: 'partial' })
    const final = await open(store, { kind: 'final' })
    await store.openUploads.end({ id: final.id, now: NOW })
    expect(await find(store, part)).toBeDefined()
    expect(await account(store, ALICE)).toMatchObject({ reserved: 600 })
  })
}
