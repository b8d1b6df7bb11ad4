import { join } from 'node:path'
import { Readable } from 'node:stream'
import { HOUR_MS } from '@lade/core/time'
import { describe, expect, test } from 'vitest'
import { DataSets } from '../data-sets/data-sets.ts'
import { pieceOf, startTestProver, temporaryDir } from '../testing/harness.ts'
import { synapseClient } from '../testing/synapse-client.ts'
import { collectParked } from './collect-parked.ts'
import { PieceStore } from './piece-store.ts'

/** Long enough for a piece to be added to a data set meanwhile, on a machine that has much else to do. */
const PARK_MS = 2000

const RECORD_KEEPER = '0x8408502033C418E1bbC97cE9ac48E5528F371A9f'

async function openHarness() {
  const dir = await temporaryDir()
  const clock = { time: Date.now() }
  const now = () => clock.time
  const rejected = new Set<string>()
  const isRejected = (hash: string) => rejected.has(hash)
  const openStore = () => PieceStore.open({ dir, now })
  const store = await openStore()
  const dataSets = await DataSets.open({ dir: join(dir, 'data-sets'), now, confirmDelayMs: 1000, isRejected })
  const keep = async (seed: number) => {
    const piece = pieceOf(500, seed)
    await store.keep(await store.receive(Readable.from([piece.bytes]), { maxBytes: 500, idleMs: 1000 }))
    return piece.pieceCid
  }
  const add = async (pieceCids: readonly string[], extraData: string) => {
    const sent = await dataSets.create({ recordKeeper: RECORD_KEEPER, extraData, pieceCids })
    return 'txHash' in sent ? sent.txHash : ''
  }
  return {
    store,
    openStore,
    dataSets,
    clock,
    rejected,
    keep,
    add,
    collect: (held = store) => collectParked({ store: held, dataSets, now, parkMs: HOUR_MS }),
  }
}

describe('collectParked', () => {
  test('throws away what nobody added, once its time is over, and nothing else', async () => {
    const { store, clock, keep, add, collect } = await openHarness()
    const [left, added, wanted] = [await keep(1), await keep(3), await keep(5)]
    await add([added], '0x01')
    clock.time += HOUR_MS - 1
    expect(await collect()).toBe(0)
    store.want(wanted)
    clock.time += 1
    expect(await collect()).toBe(1)
    expect([left, added, wanted].map((pieceCid) => store.get(pieceCid) !== undefined)).toEqual([false, true, true])
    clock.time += HOUR_MS
    expect(await collect()).toBe(1)
    expect(store.list()).toEqual([added])
  })

  test('begins to count anew when the last data set has lost the piece', async () => {
    const { store, dataSets, clock, keep, add, collect } = await openHarness()
    const pieceCid = await keep(1)
    await add([pieceCid], '0x01')
    await add([pieceCid], '0x02')
    clock.time += 10 * HOUR_MS
    await dataSets.removePieces(1, { extraData: '0x03', pieceIds: [0] })
    clock.time += 10 * HOUR_MS
    expect(await collect()).toBe(0)
    await dataSets.removePieces(2, { extraData: '0x04', pieceIds: [0] })
    expect(await collect()).toBe(0)
    clock.time += HOUR_MS - 1
    expect(await collect()).toBe(0)
    clock.time += 1
    expect(await collect()).toBe(1)
    expect(store.list()).toEqual([])
  })

  test('leaves alone what an addition under way has, and not what a rejected one had', async () => {
    const { clock, rejected, keep, add, collect } = await openHarness()
    const [pieceCid, other] = [await keep(1), await keep(2)]
    clock.time += 2 * HOUR_MS
    await add([pieceCid], '0x01')
    const lost = await add([other], '0x02')
    rejected.add(lost)
    expect(await collect()).toBe(0)
    clock.time += 1000
    expect(await collect()).toBe(1)
  })

  test('counts on after a restart from when the piece was stored', async () => {
    const { openStore, clock, keep, collect } = await openHarness()
    await keep(1)
    clock.time += HOUR_MS / 2
    expect(await collect(await openStore())).toBe(0)
    clock.time += HOUR_MS / 2 + 60_000
    expect(await collect(await openStore())).toBe(1)
  })

  test('is done by a running prover', async () => {
    const prover = await startTestProver({ parkHours: PARK_MS / HOUR_MS, sweepMs: 20 })
    const client = synapseClient(prover.url)
    const [left, added] = [pieceOf(500, 1), pieceOf(500, 2)]
    await client.uploadPiece(added.pieceCid, added.bytes)
    await client.createDataSetAndAddPieces(RECORD_KEEPER, '0x01', [added.pieceCid])
    await client.uploadPiece(left.pieceCid, left.bytes)
    const download = () => client.download(left.pieceCid).catch(() => 'gone')
    await expect.poll(download, { interval: 30, timeout: 10 * PARK_MS }).toBe('gone')
    expect(await client.download(added.pieceCid)).toEqual(added.bytes)
  })
})
