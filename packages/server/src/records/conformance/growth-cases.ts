import { expect } from 'vitest'
import type { GrowOutcome, RecordStore } from '../record-store.ts'
import {
  account,
  BOB,
  type Cases,
  claim,
  commit,
  counted,
  NOW,
  overBytes,
  overFiles,
  stage,
  times,
  tryReserve,
  type Upload,
  upload,
} from './case.ts'

/** Begins an upload whose size is not known. */
async function begin(store: RecordStore, of: Upload): Promise<string> {
  const { id, reserved } = await tryReserve(store, { ...of, sizeBytes: 1, grows: true })
  expect(reserved).toMatchObject({ outcome: 'reserved', reservedBytes: 0 })
  return id
}

function grow(
  store: RecordStore,
  reservationId: string,
  { of = upload(), least, wanted = least }: { of?: Upload; least: number; wanted?: number },
): Promise<GrowOutcome> {
  const { principal, key, now } = of
  return store.quotas.grow({ reservationId, principal, key, leastBytes: least, wantedBytes: wanted, now })
}

export function growthCases({ it }: Cases): void {
  it('reserves nothing at first, then what is asked for, and charges what came', async (store) => {
    const id = await begin(store, upload())
    expect(await account(store)).toEqual({ charged: 0, reserved: 0, stored: 0 })
    expect(await grow(store, id, { least: 100, wanted: 300 })).toEqual({ outcome: 'grown', allowedBytes: 300 })
    expect(await account(store)).toEqual({ charged: 0, reserved: 300, stored: 0 })
    const came = upload({ sizeBytes: 250 })
    expect(await claim(store, id, came)).toEqual({ outcome: 'claimed' })
    expect(await commit(store, id, came)).toMatchObject({ outcome: 'recorded', usedBytes: 250 })
    expect(await account(store)).toEqual({ charged: 250, reserved: 0, stored: 250 })
  })

  it('lets an upload grow to the last byte of the cap, and refuses the next one', async (store) => {
    await stage(store, upload({ content: 'one', sizeBytes: 600 }))
    const id = await begin(store, upload())
    expect(await grow(store, id, { least: 100, wanted: 900 })).toEqual({ outcome: 'grown', allowedBytes: 400 })
    expect(await grow(store, id, { least: 401, wanted: 900 })).toEqual(overBytes(600))
    expect(await account(store)).toMatchObject({ reserved: 400 })
    await store.quotas.release({ reservationId: id, now: NOW })
    expect(await account(store)).toEqual({ charged: 600, reserved: 0, stored: 600 })
  })

  it('refuses to begin where there is no room for a byte, and for a file', async (store) => {
    await stage(store, upload({ content: 'one', sizeBytes: 1_000 }))
    const more = { ...upload(), sizeBytes: 1, grows: true }
    expect((await tryReserve(store, more)).reserved).toEqual(overBytes(1_000))
    expect((await tryReserve(store, { ...more, capBytes: 2_000, capFiles: 1 })).reserved).toEqual(overFiles(1_000, 1))
  })

  it('keeps within the stored bytes, and within the quota of the token', async (store) => {
    await stage(store, upload({ content: 'one', sizeBytes: 100 }))
    const stored = await begin(store, upload({ capStoredBytes: 300 }))
    expect(await grow(store, stored, { least: 1, wanted: 900 })).toEqual({ outcome: 'grown', allowedBytes: 200 })
    await store.quotas.release({ reservationId: stored, now: NOW })
    const ofToken = await begin(store, upload({ token: { id: 'small', capBytes: 150 } }))
    // What was charged to no token may have been by this one.
    expect(await grow(store, ofToken, { least: 1, wanted: 900 })).toEqual({ outcome: 'grown', allowedBytes: 50 })
  })

  it('never has less than it has', async (store) => {
    const id = await begin(store, upload())
    await grow(store, id, { least: 300 })
    expect(await grow(store, id, { least: 200 })).toEqual({ outcome: 'grown', allowedBytes: 300 })
  })

  it('asks for nothing for a file that is there', async (store) => {
    await stage(store, upload({ sizeBytes: 1_000 }))
    const id = await begin(store, upload())
    expect(await grow(store, id, { least: 1_000, wanted: 5_000 })).toEqual({ outcome: 'grown', allowedBytes: 5_000 })
    expect(await commit(store, id, upload({ sizeBytes: 1_000 }))).toMatchObject({ outcome: 'retry' })
    expect(await account(store)).toEqual({ charged: 1_000, reserved: 0, stored: 1_000 })
  })

  it('says that a reservation was returned meanwhile', async (store) => {
    const id = await begin(store, upload())
    await store.quotas.release({ reservationId: id, now: NOW })
    expect(await grow(store, id, { least: 1 })).toEqual({ outcome: 'lost' })
  })

  it('gives the room of a day to as many as fit, however they race', async (store) => {
    const uploads = times(20, (index) => upload({ content: `${index}` }))
    const ids = await Promise.all(uploads.map((one) => begin(store, one)))
    const grown = await Promise.all(
      ids.map((id, index) => grow(store, id, { of: uploads[index] ?? upload(), least: 100 })),
    )
    expect(counted(grown)).toEqual({ grown: 10, over_quota: 10 })
    expect(await account(store)).toEqual({ charged: 0, reserved: 1_000, stored: 0 })
    expect(await account(store, BOB)).toEqual({ charged: 0, reserved: 0, stored: 0 })
  })
}
