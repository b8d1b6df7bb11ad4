import { describe, expect, test } from 'vitest'
import { type Deal, type DealStep, stepOf, type Terms } from './deal.ts'

const TERMS: Terms = {
  provingPeriodSeconds: 100,
  acceptanceWindowSeconds: 50,
  missesToSlash: 3,
  leavesOfProof: 1,
  drawBlocks: 0n,
  challengeBlocks: 256n,
}
/** Accepted at 1000 for ten periods, of which nothing is accounted for. */
const ACTIVE: Deal = {
  contract: '0xcc',
  dealId: 1n,
  state: 'active',
  client: '0x02',
  prover: '0x01',
  root: new Uint8Array(32),
  paddedSizeBytes: 128n,
  since: 1000,
  durationSeconds: 1000,
  extraSeconds: 0,
  accountedUntil: 1000,
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
const at = (time: number, number = 500n) => ({ time, number, hash: '0x' as const, gasLimit: 30_000_000n })
const step = (changes: Partial<Deal>, head = at(1000)) => stepOf({ ...ACTIVE, ...changes }, head, TERMS)

describe('stepOf', () => {
  test.each<[string, Partial<Deal>, ReturnType<typeof at>, DealStep]>([
    ['a proposed deal is accepted', { state: 'proposed' }, at(1050), { kind: 'accept', until: 1050 }],
    ['but not after its window', { state: 'proposed' }, at(1051), { kind: 'over' }],
    ['a withdrawn one is over', { state: 'withdrawn' }, at(1000), { kind: 'over' }],
    ['as is one that there is not', { state: 'none' }, at(1000), { kind: 'over' }],
    ['what a slashed deal owes is fetched', { state: 'slashed', earned: 1n }, at(1000), { kind: 'settle' }],
    ['and then it is over', { state: 'slashed' }, at(1000), { kind: 'over' }],
    ['what a settled deal could not deliver, too', { state: 'settled', earned: 1n }, at(3000), { kind: 'settle' }],
    ['a period begins with its challenge', {}, at(1000), { kind: 'open', until: 1100 }],
    [
      'which is drawn by the next block',
      { challengeBlock: 500n },
      at(1001),
      { kind: 'wait', until: 1001, isUndrawn: true },
    ],
    ['or by one still to come', { challengeBlock: 504n }, at(1001), { kind: 'wait', until: 1005, isUndrawn: true }],
    ['and then answered', { challengeBlock: 500n }, at(1001, 501n), { kind: 'prove', until: 1100, lastBlock: 756n }],
    ['for 256 blocks', { challengeBlock: 500n }, at(1001, 756n), { kind: 'prove', until: 1100, lastBlock: 756n }],
    ['and no longer', { challengeBlock: 500n }, at(1001, 757n), { kind: 'reopen', until: 1100 }],
    ['a proven period is waited out', { accountedUntil: 1100 }, at(1099), { kind: 'wait', until: 1100 }],
    [
      'a missed one is followed by another challenge',
      { challengeBlock: 500n },
      at(1100, 510n),
      { kind: 'open', until: 1200 },
    ],
    ['two, too', { challengeBlock: 500n }, at(1200, 510n), { kind: 'open', until: 1300 }],
    ['after three the deal can be slashed, and nothing be proved', {}, at(1300), { kind: 'wait', until: 2000 }],
    ['as when two of them were accounted for', { missesInARow: 2 }, at(1100), { kind: 'wait', until: 2000 }],
    [
      'the last period takes what is left',
      { accountedUntil: 1850, challengeBlock: 500n },
      at(1960, 501n),
      { kind: 'prove', until: 2000, lastBlock: 756n },
    ],
    ['the end is settled', {}, at(2000), { kind: 'settle' }],
    ['an extension puts it off', { accountedUntil: 1900, extraSeconds: 500 }, at(2000), { kind: 'open', until: 2100 }],
    ['up to its own end', { extraSeconds: 500 }, at(2500), { kind: 'settle' }],
    [
      'seven periods are worth settling',
      { accountedUntil: 1700, earned: 700n, remaining: 300n },
      at(1699),
      { kind: 'settle' },
    ],
    ['six are not', { accountedUntil: 1600, earned: 600n, remaining: 400n }, at(1599), { kind: 'wait', until: 1600 }],
    [
      'a deal for nothing is never settled before its end',
      { accountedUntil: 1700, remaining: 0n },
      at(1699),
      { kind: 'wait', until: 1700 },
    ],
    [
      'nor is one whose term is accounted for',
      { accountedUntil: 2000, earned: 1000n, remaining: 0n },
      at(1999),
      { kind: 'wait', until: 2000 },
    ],
  ])('%s', (_, changes, head, expected) => {
    expect(step(changes, head)).toEqual(expected)
  })
})
