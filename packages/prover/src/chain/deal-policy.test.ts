import { describe, expect, test } from 'vitest'
import type { Deal, Terms } from './deal.ts'
import { type DealPolicy, isWorthProving, isWorthSettling, microUsdcOfGas, refusalOf } from './deal-policy.ts'
import { GasUse } from './gas-use.ts'

const DAY = 86_400
const GIB = 2n ** 30n
const TERMS: Terms = {
  provingPeriodSeconds: DAY,
  acceptanceWindowSeconds: DAY,
  missesToSlash: 3,
  leavesOfProof: 1,
  drawBlocks: 0n,
  challengeBlocks: 256n,
}
const POLICY: DealPolicy = {
  leastMicroUsdcPerGibDay: 50n,
  clients: undefined,
  longestTermSeconds: 100 * DAY,
  microUsdcPerCoin: undefined,
  mostBond: 0n,
}
/** A GiB for ten days, at 100 units a day. */
const PROPOSED: Deal = {
  contract: '0xcc',
  dealId: 1n,
  state: 'proposed',
  client: '0xc1',
  prover: '0x01',
  root: new Uint8Array(32),
  paddedSizeBytes: GIB,
  since: 1000,
  durationSeconds: 10 * DAY,
  extraSeconds: 0,
  accountedUntil: 0,
  missesInARow: 0,
  challengeBlock: 0n,
  remaining: 1000n,
  extraPayment: 0n,
  earned: 0n,
  leafCount: 4n,
  period: 0,
  bond: 0n,
  bonded: 0n,
  bondAtRisk: 0n,
}
const ACTIVE: Deal = { ...PROPOSED, state: 'active', accountedUntil: 1000 }

describe('refusalOf', () => {
  test.each<[string, Partial<Deal>, Partial<DealPolicy>, ReturnType<typeof refusalOf>]>([
    ['takes what pays enough', {}, {}, undefined],
    ['and exactly enough', { remaining: 500n }, {}, undefined],
    ['but no less', { remaining: 499n }, {}, 'price'],
    ['half a unit may be lost to rounding', { durationSeconds: 10.01 * DAY, remaining: 500n }, {}, undefined],
    ['nor nothing, however small the piece', { remaining: 0n, paddedSizeBytes: 128n }, {}, 'price'],
    ['a small piece for a unit', { remaining: 1n, paddedSizeBytes: 128n }, {}, undefined],
    ['nothing at all, where the price is 0', { remaining: 0n }, { leastMicroUsdcPerGibDay: 0n }, undefined],
    ['added time has to be paid, too', { extraSeconds: DAY }, {}, 'price'],
    ['and is not paid by the time before it', { extraSeconds: 10 * DAY, extraPayment: 10n }, {}, 'price'],
    ['and may be', { extraSeconds: 10 * DAY, extraPayment: 500n }, {}, undefined],
    ['it counts for the term', { extraSeconds: 91 * DAY, extraPayment: 10_000n }, {}, 'term'],
    ['a bond, where none is put up', { bond: 1n }, {}, 'bond'],
    ['more than all that is put up', { bond: 11n }, { mostBond: 10n }, 'bond'],
    ['and no more than that', { bond: 10n }, { mostBond: 10n }, undefined],
    ['a term too long', { durationSeconds: 101 * DAY, remaining: 100_000n }, {}, 'term'],
    ['a client who is not allowed', {}, { clients: ['0xc2'] }, 'client'],
    ['and one who is', {}, { clients: ['0xc2', '0xc1'] }, undefined],
  ])('%s', (_, deal, policy, expected) => {
    expect(refusalOf({ ...PROPOSED, ...deal }, { ...POLICY, ...policy })).toBe(expected)
  })
})

describe('gas against pay', () => {
  const gasUse = new GasUse({ accept: 0n, open: 0n, prove: 0n, settle: 0n })
  gasUse.note('accept', 50n)
  gasUse.note('open', 40n)
  gasUse.note('prove', 60n)
  gasUse.note('settle', 70n)
  // A unit of gas costs a unit of USDC.
  const policy = { ...POLICY, microUsdcPerCoin: 10n ** 9n }
  const weiPerGas = 10n ** 9n
  const isWorth = (deal: Deal, kind: 'accept' | 'open' | 'prove', time = 1000) =>
    isWorthProving(deal, kind, { time, terms: TERMS, policy, prices: { weiPerGas, gasUse } })

  test('is rounded up', () => {
    expect(microUsdcOfGas(122_335n, 10n ** 9n, 3_000_000_000n)).toBe(367_005n)
    expect(microUsdcOfGas(1n, 1n, 1n)).toBe(1n)
  })

  test('counts all proofs that are left, and what is left of the pay', () => {
    expect(isWorth(PROPOSED, 'accept')).toBe(false)
    expect(isWorth({ ...PROPOSED, remaining: 1050n }, 'accept')).toBe(true)
    expect(isWorth(ACTIVE, 'open')).toBe(true)
    expect(isWorth({ ...ACTIVE, remaining: 999n }, 'open')).toBe(false)
    // The bond would be lost.
    expect(isWorth({ ...ACTIVE, remaining: 999n, bondAtRisk: 1n }, 'open')).toBe(true)
    expect(isWorth({ ...ACTIVE, remaining: 0n, bondAtRisk: 1000n }, 'open')).toBe(true)
    expect(isWorth({ ...ACTIVE, remaining: 960n }, 'prove')).toBe(true)
    expect(isWorth({ ...ACTIVE, remaining: 959n }, 'prove')).toBe(false)
    // Two periods were missed, and their pay goes back.
    expect(isWorth(ACTIVE, 'open', 1000 + 2 * DAY)).toBe(true)
    expect(isWorth({ ...ACTIVE, remaining: 998n }, 'open', 1000 + 2 * DAY)).toBe(false)
    // Time that was added for nothing costs ten proofs more.
    expect(isWorth({ ...ACTIVE, extraSeconds: 10 * DAY }, 'open')).toBe(false)
    expect(isWorth({ ...ACTIVE, extraSeconds: 10 * DAY, extraPayment: 1000n }, 'open')).toBe(true)
  })

  test('is not asked about without the price of a coin, except that nothing is never enough', () => {
    const args = { time: 1000, terms: TERMS, prices: { weiPerGas: 10n ** 15n, gasUse } }
    expect(isWorthProving({ ...ACTIVE, remaining: 1n }, 'open', { ...args, policy: POLICY })).toBe(true)
    expect(isWorthProving({ ...ACTIVE, remaining: 0n }, 'open', { ...args, policy: POLICY })).toBe(false)
    const unpaid = { ...POLICY, leastMicroUsdcPerGibDay: 0n }
    expect(isWorthProving({ ...ACTIVE, remaining: 0n }, 'open', { ...args, policy: unpaid })).toBe(true)
  })

  test('settles for a bond that nobody else would give back', () => {
    const bonded = { ...ACTIVE, bondAtRisk: 70n }
    const isDue = (time: number) => isWorthSettling(bonded, policy, { time, weiPerGas, gasUse })
    expect([isDue(999 + 10 * DAY), isDue(1000 + 10 * DAY)]).toEqual([false, true])
  })

  test('settles what is worth the settlement', () => {
    const isDue = (earned: bigint, by: DealPolicy) =>
      isWorthSettling({ ...ACTIVE, earned }, by, { time: 2000, weiPerGas, gasUse })
    expect([isDue(70n, policy), isDue(69n, policy), isDue(1n, POLICY), isDue(0n, POLICY)]).toEqual([
      true,
      false,
      true,
      false,
    ])
  })
})
