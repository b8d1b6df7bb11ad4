import { createHash } from 'node:crypto'
import { LadeError } from '@lade/core/errors'
import { challengeIndex, leafCount, verifyInclusion, verifyLeafProof } from '@lade/core/piece'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { seededBytes } from '../blobs/conformance/seeded-bytes.ts'
import { pieceNamed } from '../proving/piece-name.ts'
import type { ScriptedProver } from '../proving/scripted-prover.ts'
import type { FileRecord } from '../records/record-store.ts'
import { type ProvenFile, proveFile, seedOf } from './challenge.ts'
import { Outages } from './outages.ts'
import { DEFAULT_PACE } from './placement-pace.ts'
import { openPlacementGround, type PlacementGround, scriptedProvers } from './testing-placement.ts'

describe('proveFile', () => {
  let ground: PlacementGround
  let provers: ScriptedProver[]
  beforeEach(async () => {
    ground = await openPlacementGround()
    provers = scriptedProvers(['one', 'two'])
  })
  afterEach(() => ground.close())

  const prove = (file: FileRecord, nonce: string): Promise<ProvenFile> =>
    proveFile(
      {
        records: ground.records,
        provers,
        now: () => ground.clock.now,
        pace: DEFAULT_PACE,
        outages: new Outages(),
        signal: new AbortController().signal,
      },
      { file: file.sequence, nonce },
    )
  const bytesOf = (hex: string): Uint8Array => Buffer.from(hex.slice(2), 'hex')

  /** Checks an answer from nothing but the nonce and core, as anybody can. */
  function expectProven({ seed, pieceCid, height, proofs }: ProvenFile, nonce: string): void {
    const expected = createHash('sha256').update('lade possession').update(Buffer.of(0)).update(nonce).digest()
    expect(seed).toBe(`0x${expected.toString('hex')}`)
    const { root, rawSizeBytes } = pieceNamed(pieceCid)
    expect(proofs).toHaveLength(5)
    for (const [proofIndex, { leafIndex, leaf, proof }] of proofs.entries()) {
      const challengeRange = BigInt(leafCount(rawSizeBytes))
      expect(leafIndex).toBe(Number(challengeIndex({ seed: expected, dataSetId: 0n, proofIndex, challengeRange })))
      const checked = { root, height, leafIndex, leaf: bytesOf(leaf), proof: proof.map(bytesOf) }
      expect(verifyLeafProof(checked)).toBe(true)
    }
  }

  it('answers a proof that anybody can check', async () => {
    const file = await ground.put(seededBytes(5000, 1))
    await ground.pass(ground.job(provers))
    const proven = await prove(file, 'ünïcode')
    expectProven(proven, 'ünïcode')
    expect(proven.inclusion).toBeUndefined()
    expect(proven.prover).toBe('https://one.example')
  })

  it('of a small file proves the aggregate, and that the file is in it', async () => {
    const files = [await ground.put(seededBytes(500, 1)), await ground.put(seededBytes(700, 2))]
    await ground.pass(ground.job(provers, { aggregateBelowBytes: 1000, aggregateSeconds: 0 }))
    const [file] = files as [FileRecord]
    const proven = await prove(file, 'n')
    expectProven(proven, 'n')
    const { inclusion } = proven
    if (inclusion === undefined) throw new Error('no inclusion')
    const pathOf = ({ position, siblings }: { position: number; siblings: readonly string[] }) => ({
      position,
      siblings: siblings.map(bytesOf),
    })
    const piece = pieceNamed(inclusion.pieceCid)
    expect(Buffer.from(piece.root).toString('hex')).toBe(file.pieceRoot)
    const proof = { segment: pathOf(inclusion.segment), entry: pathOf(inclusion.entry) }
    expect(verifyInclusion({ aggregate: pieceNamed(proven.pieceCid), piece, proof })).toBe(true)
  })

  it('asks the next prover when one does not answer or lies, and has the liar audited', async () => {
    const file = await ground.put(seededBytes(5000, 1))
    const job = ground.job(provers, { copies: 2 })
    await ground.pass(job)
    const [one, two] = provers as [ScriptedProver, ScriptedProver]
    one.script.isUnreachable = true
    expect((await prove(file, 'a')).prover).toBe(two.name)
    one.script.isUnreachable = false
    one.script.liesAboutBytes = true
    expect((await prove(file, 'b')).prover).toBe(two.name)
    await ground.pass(job, 10_000)
    const [deal] = await ground.records.placements.deals([file.sequence])
    expect(deal?.pieces[0]?.copies.map(({ state }) => state)).toEqual(['failed', 'stored'])
  })

  it('error: not_placed before a copy was proved, prove_failed when no answer holds', async () => {
    const file = await ground.put(seededBytes(5000, 1))
    const failureOf = (nonce: string) => prove(file, nonce).catch((error: unknown) => error)
    const unplaced = await failureOf('n')
    expect(LadeError.has(unplaced, 'not_placed') && unplaced.evidence).toEqual({ dealStatus: 'staged' })
    await ground.pass(ground.job(provers))
    for (const prover of provers) prover.script.liesAboutBytes = true
    const failed = await failureOf('n')
    expect(LadeError.has(failed, 'prove_failed') && failed.evidence.reason).toContain('does not lead to the piece')
  })

  it('refuses nonces that are no nonces', async () => {
    const file = await ground.put(seededBytes(5000, 1))
    await expect(prove(file, '')).rejects.toThrow(TypeError)
    await expect(prove(file, 'n'.repeat(129))).rejects.toThrow(TypeError)
    expect(seedOf('n')).toHaveLength(32)
  })
})
