import { randomUUID } from 'node:crypto'
import { pieceCidOf } from '@lade/core/content'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type FakeProver, openFakeProver } from '../proving/fake-prover.ts'
import { openStagingFixture, type StagingFixture } from '../testing/running/staging-fixture.ts'
import { type BytesToStage, createProverStaging, type ProverStagingDeps } from './stage-at-prover.ts'

const BYTES = Buffer.alloc(1000, 'handed over ')

describe('handing over', () => {
  let fixture: StagingFixture
  let bytes: BytesToStage
  let provers: FakeProver[]
  beforeEach(async () => {
    fixture = await openStagingFixture()
    provers = ['https://one.example', 'https://two.example'].map((name) => openFakeProver({ name }))
    const { file } = await fixture.stage(BYTES, { head: { visibility: 'private' } })
    bytes = {
      sha256: file.sha256 ?? '',
      sizeBytes: BYTES.length,
      pieceRoot: file.pieceRoot ?? '',
      pieceSubtreeRoots: new Uint8Array(),
    }
  })
  afterEach(() => fixture.remove())

  const proverStagingOf = (overrides: Partial<ProverStagingDeps> = {}) =>
    createProverStaging({
      records: fixture.records,
      blobs: fixture.blobs,
      provers,
      copies: 2,
      aggregateBelowBytes: 500,
      stage: 'sync',
      publicUrl: () => 'https://lade.example',
      now: () => fixture.clock.now,
      newId: randomUUID,
      ...overrides,
    })
  const signal = new AbortController().signal
  const failure = (promise: Promise<unknown>) => promise.catch((error: unknown) => error)

  it('is needed for public files that are not aggregated, where uploads wait for provers that are not this process', () => {
    const upload = { sizeBytes: 500, visibility: 'public' } as const
    expect(proverStagingOf().isNeeded(upload)).toBe(true)
    expect(proverStagingOf().isNeeded({ ...upload, sizeBytes: 499 })).toBe(false)
    expect(proverStagingOf().isNeeded({ ...upload, visibility: 'private' })).toBe(false)
    expect(proverStagingOf({ stage: 'async' }).isNeeded(upload)).toBe(false)
    expect(proverStagingOf({ provers: [] }).isNeeded(upload)).toBe(false)
  })

  it('parks the piece at one prover, at each in turn', async () => {
    const proverStaging = proverStagingOf()
    const parkedAt = []
    for (let turn = 0; turn < 4; turn += 1)
      parkedAt.push(...(await proverStaging.stageAtProver(bytes, signal)).parkedAt)
    expect(parkedAt.toSorted()).toEqual(provers.flatMap(({ name }) => [name, name]))
    for (const { parked } of provers) expect([...parked.values()]).toEqual([BYTES])
  })

  it('says what was parked, and how many copies there shall be', async () => {
    const { sha256: object, sizeBytes, pieceRoot } = bytes
    expect(await proverStagingOf().stageAtProver(bytes, signal)).toEqual({
      copiesWanted: 2,
      pieces: [{ object, sizeBytes, pieceRoot, offsetBytes: 0 }],
      parkedAt: [expect.stringMatching(/^https:/)],
    })
  })

  it('offers the bytes while they are being staged, to provers that fetch them', async () => {
    const [prover] = provers
    if (prover === undefined) throw new Error('no prover')
    const { now } = fixture.clock
    const asked: unknown[] = []
    const park: FakeProver['park'] = async (piece) => {
      asked.push(piece.sourceUrl, await fixture.records.offers.find({ ...bytes, now }))
    }
    await proverStagingOf({ provers: [{ ...prover, park }] }).stageAtProver(bytes, signal)
    const url = `https://lade.example/piece/${pieceCidOf(bytes)}`
    expect(asked).toEqual([url, { object: bytes.sha256, offsetBytes: 0 }])
    expect(await fixture.records.offers.find({ ...bytes, now })).toBeUndefined()
  })

  it('goes on to the next prover, and fails by what coming again could help against', async () => {
    const proverStaging = proverStagingOf()
    for (const prover of provers) prover.refuseNext('full')
    expect(await failure(proverStaging.stageAtProver(bytes, signal))).toMatchObject({ evidence: { reason: 'full' } })
    const [one, two] = provers
    one?.refuseNext('full')
    two?.refuseNext('full')
    if (two !== undefined) two.script.isUnreachable = true
    expect(await failure(proverStaging.stageAtProver(bytes, signal))).toMatchObject({
      code: 'stage_failed',
      evidence: { retryAfterSeconds: 5 },
    })
    expect(await proverStaging.stageAtProver(bytes, signal)).toMatchObject({ parkedAt: ['https://one.example'] })
  })

  it('ends with the signal, and by its reason', async () => {
    const controller = new AbortController()
    controller.abort(new Error('gone'))
    await expect(proverStagingOf().stageAtProver(bytes, controller.signal)).rejects.toThrow('gone')
  })
})
