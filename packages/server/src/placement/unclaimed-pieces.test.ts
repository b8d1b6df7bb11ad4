/** Providers such as Curio drop pieces that no data set claims within some hours. */
import { pieceCidOf } from '@lade/core/content'
import { DAY_MS, HOUR_MS } from '@lade/core/time'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { seededBytes } from '../blobs/conformance/seeded-bytes.ts'
import { type FakeProver, openFakeProver } from '../proving/fake-prover.ts'
import type { FileRecord } from '../records/record-store.ts'
import { openPlacementFixture, type PlacementFixture } from './testing-placement.ts'

const DROPPED_AFTER_MS = 2 * HOUR_MS

describe('a prover that drops what no data set claims', () => {
  let fixture: PlacementFixture
  let prover: FakeProver
  let file: FileRecord
  beforeEach(async () => {
    fixture = await openPlacementFixture()
    prover = openFakeProver({ name: 'https://one.example' })
    file = await fixture.put(seededBytes(5000, 1))
  })
  afterEach(() => fixture.close())

  const pieceCid = () => pieceCidOf({ pieceRoot: file.pieceRoot ?? '', sizeBytes: file.sizeBytes })
  const sends = () => prover.calls.filter(({ method }) => method === 'park').length
  const additions = () => prover.calls.filter(({ method }) => method === 'add').length

  it('gets the piece again after an addition that its chain rejected', async () => {
    const job = fixture.job([prover], { schedule: { firstRetryMs: DROPPED_AFTER_MS, maxRetryMs: DROPPED_AFTER_MS } })
    prover.script.rejectAdditions = 'not enough funds'
    await fixture.pass(job)
    expect(await fixture.deal(file)).toMatchObject({ status: 'staged', pieces: [{ copies: [{ state: 'pending' }] }] })
    prover.script.rejectAdditions = undefined
    prover.lose(pieceCid())
    await fixture.pass(job, DROPPED_AFTER_MS, HOUR_MS)
    await fixture.pass(job)
    expect(await fixture.deal(file)).toMatchObject({ status: 'active', pieces: [{ copies: [{ rejections: 1 }] }] })
    expect([sends(), additions()]).toEqual([2, 2])
  })

  it('gets the piece again when it was parked for long before it could be added', async () => {
    const job = fixture.job([prover])
    await job.round()
    expect(await fixture.deal(file)).toMatchObject({ status: 'proposed', pieces: [{ copies: [{ state: 'parked' }] }] })
    fixture.clock.now += DROPPED_AFTER_MS
    prover.lose(pieceCid())
    await fixture.pass(job)
    expect(await fixture.deal(file)).toMatchObject({ status: 'active', pieces: [{ copies: [{ rejections: 0 }] }] })
    expect([sends(), additions()]).toEqual([2, 1])
  })

  it('is asked to add a piece three times, although it accepts the bytes each time', async () => {
    prover.script.rejectAdditions = 'not enough funds'
    await fixture.pass(
      fixture.job([prover], { schedule: { coolDownMs: DAY_MS, reconcileAgainMs: DAY_MS } }),
      10 * 60_000,
    )
    const [copy] = (await fixture.deal(file)).pieces[0]?.copies ?? []
    expect(copy).toMatchObject({ state: 'failed', cause: 'not enough funds' })
    expect([sends(), additions()]).toEqual([3, 3])
  })
})
