import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openFakeProver } from '../proving/fake-prover.ts'
import type { CopyRecord, CopyState, UnreconciledPiece } from '../records/record-store.ts'
import { chooseCopies, type ProverView } from './choose-copies.ts'

const NOW = 1_000_000_000
const NAMES = ['a', 'b', 'c', 'd']
const SCHEDULE = { coolDownMs: 1000, reconcileAgainMs: 60_000 }

function copyOf(id: number, overrides: Partial<CopyRecord> = {}): CopyRecord {
  return {
    id,
    piece: 1,
    prover: 'a',
    state: 'stored',
    attempts: 0,
    rejections: 0,
    nextAt: 0,
    dataSetId: null,
    pieceId: null,
    parkedAt: null,
    storedAt: null,
    provedAt: null,
    retrievableAt: null,
    endedAt: null,
    cause: null,
    ...overrides,
  }
}

function failedOf(id: number, prover: string, endedAt: number): CopyRecord {
  return copyOf(id, { prover, state: 'failed', endedAt, cause: `cause ${id}` })
}

function pieceOf(copies: readonly CopyRecord[], copiesWanted: number): UnreconciledPiece {
  const piece = { id: 1, pieceRoot: '', sizeBytes: 1000, source: { kind: 'aggregate' } } as const
  return { piece, copiesWanted, neededUntil: null, copies, isComplete: true, revision: 1 }
}

function viewOf(overrides: Partial<ProverView> & { readonly names?: readonly string[] } = {}): ProverView {
  const { names = NAMES, ...others } = overrides
  return {
    provers: names.map((name) => openFakeProver({ name })),
    isHere: () => true,
    loadOf: () => 0,
    schedule: SCHEDULE,
    now: NOW,
    ...others,
  }
}

/** At most one live copy at each prover, in any state, and any that failed. */
const anyCopies = fc
  .record({
    live: fc.uniqueArray(
      fc.record({
        prover: fc.constantFrom(...NAMES),
        state: fc.constantFrom<CopyState>('pending', 'parked', 'adding', 'stored'),
        isProved: fc.boolean(),
      }),
      { selector: ({ prover }) => prover },
    ),
    failed: fc.array(fc.record({ prover: fc.constantFrom(...NAMES), ageMs: fc.nat({ max: 100_000 }) }), {
      maxLength: 5,
    }),
  })
  .map(({ live, failed }) => [
    ...failed.map(({ prover, ageMs }, id) => failedOf(id, prover, NOW - ageMs)),
    ...live.map(({ prover, state, isProved }, at) =>
      copyOf(100 + at, { prover, state, provedAt: state === 'stored' && isProved ? NOW : null }),
    ),
  ])

describe('chooseCopies', () => {
  it('never gives a prover a second copy, never more than is wanted, and never lets go of a proved one too many', () => {
    fc.assert(
      fc.property(anyCopies, fc.nat({ max: 5 }), (copies, wanted) => {
        const { add, release, nextAt, failure } = chooseCopies(pieceOf(copies, wanted), viewOf())
        const live = copies.filter(({ endedAt }) => endedAt === null)
        const kept = live.filter(({ id }) => !release.includes(id))
        expect(new Set([...kept.map(({ prover }) => prover), ...add]).size).toBe(kept.length + add.length)
        expect(kept.length + add.length).toBeLessThanOrEqual(Math.max(wanted, 0))
        if (release.length > 0) expect(kept.length).toBe(wanted)
        const proved = (some: readonly CopyRecord[]) => some.filter(({ provedAt }) => provedAt !== null).length
        expect(proved(kept)).toBe(Math.min(proved(live), kept.length))
        const isShort = kept.length + add.length < wanted
        expect(nextAt !== null).toBe(isShort)
        expect(nextAt ?? NOW + 1).toBeGreaterThan(NOW)
        expect(failure !== null).toBe(isShort && kept.length + add.length === 0)
      }),
    )
  })

  it('prefers provers of the network, then those that answer, then those with the fewest copies', () => {
    const provers = NAMES.map((name) => ({ ...openFakeProver({ name }), isLocal: name === 'a' }))
    const loads = new Map([
      ['b', 3],
      ['c', 1],
      ['d', 2],
    ])
    const view = viewOf({ provers, isHere: (name) => name !== 'c', loadOf: (name) => loads.get(name) ?? 0 })
    expect(chooseCopies(pieceOf([], 4), view).add).toEqual(['d', 'b', 'c', 'a'])
  })

  it('asks a prover that failed only when no other is left, and after a time that doubles', () => {
    const once = [failedOf(1, 'a', NOW - 1000)]
    expect(chooseCopies(pieceOf(once, 1), viewOf({ names: ['a', 'b'] })).add).toEqual(['b'])
    expect(chooseCopies(pieceOf(once, 1), viewOf({ names: ['a'] })).add).toEqual(['a'])
    const twice = [failedOf(1, 'a', NOW - 5000), failedOf(2, 'a', NOW - 1000)]
    const waiting = chooseCopies(pieceOf(twice, 1), viewOf({ names: ['a'] }))
    expect(waiting).toMatchObject({ add: [], nextAt: NOW + 1000, failure: expect.stringContaining('a: cause 2') })
    expect(chooseCopies(pieceOf(twice, 1), viewOf({ names: ['a'], now: NOW + 1000 })).add).toEqual(['a'])
  })

  it('says so when no prover takes pieces of that size', () => {
    const small = [openFakeProver({ name: 'a', limits: { maximumBytes: 999 } })]
    expect(chooseCopies(pieceOf([], 1), viewOf({ provers: small }))).toEqual({
      add: [],
      release: [],
      nextAt: NOW + 60_000,
      failure: 'No prover accepts pieces of 1000 bytes.',
    })
  })

  it('lets go of the copies that have come least far', () => {
    const copies = [
      copyOf(1, { prover: 'a', provedAt: NOW }),
      copyOf(2, { prover: 'b', state: 'pending' }),
      copyOf(3, { prover: 'c', state: 'adding' }),
      copyOf(4, { prover: 'd', state: 'stored' }),
    ]
    const releasedFor = (wanted: number) => chooseCopies(pieceOf(copies, wanted), viewOf()).release.toSorted()
    expect([3, 2, 1, 0].map(releasedFor)).toEqual([[2], [2, 3], [2, 3, 4], [1, 2, 3, 4]])
  })
})
