import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import type { FileRecord, RecordStore, TakeRequest } from '../record-store.ts'
import {
  ALICE,
  account,
  BOB,
  type Cases,
  commit,
  commitAtOnce,
  counted,
  DAY,
  digestOf,
  fileCommitOf,
  HOUR,
  NOW,
  overBytes,
  pending,
  reserve,
  served,
  stage,
  times,
  upload,
  WEEK,
} from './case.ts'
import { compose, stageParts } from './composing.ts'
import { dealOf, dealStatus, enrolled, unreconciledPieces } from './placing.ts'

const ADDRESS = 'ip:192.0.2.1'
const SECRET = digestOf('secret')
const OTHER_SECRET = digestOf('other secret')
/** A thousand with the full plan, which takes half a minute on PostgreSQL. */
const CLAIMANTS = process.env.LADE_TEST_PLAN === 'full' ? 1_000 : 100

export function claimCases({ it, itWithTwo, itAcrossRestart, itBroken }: Cases): void {
  const sponsored = (of: Parameters<typeof upload>[0] = {}) =>
    upload({ principal: ADDRESS, sponsored: true, filename: 'ours.txt', claimDigest: SECRET, ...of })
  const find = (store: RecordStore, digest = SECRET, principal = ALICE, key = sponsored().key) =>
    store.claims.find({ key, digest, principal, now: NOW })
  const requestFor = (
    file: FileRecord,
    of: Partial<TakeRequest> & { readonly principal?: string } = {},
  ): TakeRequest => {
    const { principal = ALICE, ...rest } = of
    const wanted = upload({ principal, sizeBytes: file.sizeBytes, expiresAt: NOW + 4 * WEEK })
    return {
      sponsored: file.sequence,
      digest: SECRET,
      now: NOW,
      day: DAY,
      capBytes: 1_000,
      capFiles: 10,
      file: { ...fileCommitOf(wanted, `d-0x${randomUUID()}`).file, sha256: file.sha256, filename: file.filename },
      ...rest,
    }
  }
  const take = (store: RecordStore, file: FileRecord, of: Parameters<typeof requestFor>[1] = {}) =>
    store.claims.take(requestFor(file, of))
  const liveOf = async (store: RecordStore, principal: string) =>
    (await store.files.list({ principal, now: NOW, limit: 10, ended: 'live' })).map(({ sequence }) => sequence)

  it('gives the file to who has the secret, charged to the account and to the address', async (store) => {
    const file = await stage(store, sponsored())
    expect(file).not.toHaveProperty('claimDigest')
    expect(await find(store)).toEqual({ outcome: 'open', file })
    const taken = await take(store, file)
    expect(taken).toMatchObject({ outcome: 'recorded', usedBytes: 100 })
    if (!('file' in taken)) throw new Error('The claim was refused.')
    expect(taken.file).toMatchObject({
      principal: ALICE,
      sponsored: false,
      object: file.object,
      filename: 'ours.txt',
      expiresAt: NOW + 4 * WEEK,
      end: null,
    })
    expect(taken.file.sequence).toBeGreaterThan(file.sequence)
    expect(await store.files.bySequence(file.sequence)).toMatchObject({ end: 'removed', endedAt: NOW })
    expect(await account(store)).toEqual({ charged: 100, reserved: 0, stored: 100 })
    expect(await account(store, ADDRESS)).toEqual({ charged: 100, reserved: 0, stored: 0 })
    expect(await served(store, file.key)).toBe('hello as bytes')
    expect(await pending(store)).toEqual([])
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  it('is found by no other secret, under no other key, and not when it has ended', async (store) => {
    const file = await stage(store, sponsored())
    await stage(store, sponsored({ content: 'without', claimDigest: undefined }))
    const absent = { outcome: 'absent' }
    expect(await find(store, OTHER_SECRET)).toEqual(absent)
    expect(await find(store, SECRET, ALICE, `sha256:${digestOf('without')}`)).toEqual(absent)
    expect(await find(store, SECRET, ALICE, `sha256:${digestOf('nothing')}`)).toEqual(absent)
    expect(await take(store, file, { digest: OTHER_SECRET })).toEqual({ outcome: 'gone' })
    expect(await store.claims.find({ key: file.key, digest: SECRET, principal: ALICE, now: NOW + WEEK })).toEqual(
      absent,
    )
    expect(await take(store, file, { now: NOW + WEEK })).toEqual({ outcome: 'gone' })
    await store.files.remove({ principal: ADDRESS, key: file.key, now: NOW })
    expect(await find(store)).toEqual(absent)
    expect(await take(store, file)).toEqual({ outcome: 'gone' })
    expect(await account(store)).toEqual({ charged: 0, reserved: 0, stored: 0 })
  })

  it('keeps the first secret, whoever of the address sends the bytes again', async (store) => {
    const id = await reserve(store, sponsored())
    await commit(store, id, sponsored())
    const again = sponsored({ claimDigest: OTHER_SECRET })
    expect(await commit(store, await reserve(store, again), again)).toMatchObject({ outcome: 'retry' })
    expect(await commitAtOnce(store, again)).toMatchObject({ outcome: 'retry' })
    expect(await find(store, OTHER_SECRET)).toEqual({ outcome: 'absent' })
    expect(await find(store)).toMatchObject({ outcome: 'open' })

    const open = sponsored({ content: 'open', claimDigest: undefined })
    await stage(store, open)
    await commitAtOnce(store, { ...open, claimDigest: OTHER_SECRET })
    expect(await find(store, OTHER_SECRET, ALICE, open.key)).toEqual({ outcome: 'absent' })
  })

  it('stays sponsored where the day of the account has no room, of bytes or of files', async (store) => {
    const file = await stage(store, sponsored())
    await stage(store, upload({ content: 'other', sizeBytes: 901 }))
    expect(await take(store, file)).toEqual(overBytes(901))
    expect(await take(store, file, { capBytes: 2_000, capFiles: 1 })).toMatchObject({
      outcome: 'over_quota',
      over: { unit: 'files', used: 1, limit: 1 },
    })
    expect(await store.files.bySequence(file.sequence)).toMatchObject({ end: null })
    expect(await find(store)).toMatchObject({ outcome: 'open' })
    expect(await take(store, file, { capBytes: 1_001 })).toMatchObject({ outcome: 'recorded', usedBytes: 1_001 })
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  it('ends where the account has the bytes already, and charges nothing', async (store) => {
    const own = await stage(store, upload({ filename: 'mine.txt', sizeBytes: 100 }))
    const file = await stage(store, sponsored())
    expect(await take(store, file, { capBytes: 0 })).toEqual({ outcome: 'retry', file: own, usedBytes: 100 })
    expect(await store.files.bySequence(file.sequence)).toMatchObject({ end: 'removed' })
    expect(await liveOf(store, ALICE)).toEqual([own.sequence])
    expect(await account(store)).toEqual({ charged: 100, reserved: 0, stored: 100 })
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  it('takes the place of a file of the account whose term is over', async (store) => {
    const own = await stage(store, upload({ expiresAt: NOW + HOUR }))
    const file = await stage(store, sponsored())
    expect(await take(store, file, { now: NOW + HOUR })).toMatchObject({ outcome: 'recorded', usedBytes: 200 })
    expect(await store.files.bySequence(own.sequence)).toMatchObject({ end: 'expired' })
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  it('tells a claim whose answer was lost from one of somebody else', async (store) => {
    const file = await stage(store, sponsored())
    await take(store, file)
    expect(await find(store)).toMatchObject({ outcome: 'taken', file: { principal: ALICE } })
    expect(await find(store, SECRET, BOB)).toEqual({ outcome: 'absent' })
    expect(await find(store, OTHER_SECRET)).toEqual({ outcome: 'absent' })
    await store.files.remove({ principal: ALICE, key: file.key, now: NOW })
    expect(await find(store)).toEqual({ outcome: 'absent' })
  })

  it('comes after files that others have of the bytes, which decide what they see', async (store) => {
    const file = await stage(store, sponsored({ contentType: 'text/html' }))
    const bobs = await stage(store, upload({ principal: BOB, contentType: 'text/plain' }))
    await take(store, file)
    const serving = await store.files.serving({ key: file.key, now: NOW })
    expect(serving).toMatchObject({ outcome: 'found', file: { sequence: bobs.sequence } })
  })

  it('is of an opaque id, and of a composed file, as of any other', async (store) => {
    const opaque = await stage(store, sponsored({ content: 'named', key: 'opaque:myfile01' }))
    expect(await find(store, SECRET, ALICE, 'opaque:myfile01')).toEqual({ outcome: 'open', file: opaque })
    const wanted = requestFor(opaque)
    const named = { ...wanted, file: { ...wanted.file, key: 'opaque:myfile01' } }
    expect(await store.claims.take(named)).toMatchObject({ outcome: 'recorded', file: { key: 'opaque:myfile01' } })

    const parts = await stageParts(store, 2, { principal: ADDRESS })
    const whole = await compose(store, parts, { principal: ADDRESS, claimDigest: SECRET })
    if (whole.outcome !== 'recorded') throw new Error(`The composition ended as ${whole.outcome}.`)
    expect(await take(store, whole.file)).toMatchObject({ outcome: 'recorded', usedBytes: 300, file: { sha256: null } })
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  it('passes the deal on, so that provers keep what they have', async (store) => {
    const { file, piece } = await enrolled(store, sponsored(), { copiesWanted: 2 })
    const before = await dealStatus(store, file)
    const taken = await take(store, file)
    if (taken.outcome !== 'recorded') throw new Error(`The claim ended as ${taken.outcome}.`)
    const deal = await dealOf(store, taken.file)
    expect(deal).toMatchObject({ copiesWanted: 2, pieces: [{ id: piece }] })
    expect(await dealStatus(store, taken.file)).toEqual(before)
    expect(await store.placements.unenrolled({ after: 0, limit: 10 })).toEqual([])
    expect(await unreconciledPieces(store)).toEqual([piece])
    expect((await store.placements.counts()).deals).toEqual([{ status: 'staged', count: 1 }])
  })

  it(`has one winner of ${CLAIMANTS} that race`, async (store) => {
    const file = await stage(store, sponsored())
    const outcomes = await Promise.all(times(CLAIMANTS, (index) => take(store, file, { principal: `user:${index}` })))
    expect(counted(outcomes)).toEqual({ recorded: 1, gone: CLAIMANTS - 1 })
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  itWithTwo(`has one winner of ${CLAIMANTS} that race through two handles`, async (store, other) => {
    const file = await stage(store, sponsored())
    const outcomes = await Promise.all(
      times(CLAIMANTS, (index) => take(index % 2 === 0 ? store : other, file, { principal: `user:${index}` })),
    )
    expect(counted(outcomes)).toEqual({ recorded: 1, gone: CLAIMANTS - 1 })
    const charged = await Promise.all(times(CLAIMANTS, (index) => account(other, `user:${index}`)))
    expect(charged.reduce((sum, one) => sum + one.charged, 0)).toBe(100)
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  itWithTwo('stays within the day of an account that claims and uploads at once', async (store, other) => {
    const files = []
    for (let index = 0; index < 20; index += 1) {
      files.push(await stage(store, sponsored({ content: `file ${index}`, capBytes: 10_000 })))
    }
    const outcomes = await Promise.all([
      ...files.map((file, index) => take(index % 2 === 0 ? store : other, file)),
      ...times(20, (index) => commitAtOnce(store, upload({ content: `upload ${index}` }))),
    ])
    expect(counted(outcomes)).toEqual({ recorded: 10, over_quota: 30 })
    expect(await account(store)).toEqual({ charged: 1_000, reserved: 0, stored: 1_000 })
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  itAcrossRestart('is there after a restart', async (store, restart) => {
    const file = await stage(store, sponsored())
    const again = await restart()
    expect(await find(again)).toEqual({ outcome: 'open', file })
  })

  itBroken('error: a broken medium is storage_failed, and never a file that nobody has', async (store, breakNow) => {
    const file = await stage(store, sponsored())
    breakNow()
    await expect(find(store)).rejects.toMatchObject({ code: 'storage_failed' })
    await expect(take(store, file)).rejects.toMatchObject({ code: 'storage_failed' })
  })
}
