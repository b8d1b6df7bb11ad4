import fc from 'fast-check'
import { parseEventLogs, type TransactionReceipt } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { marketplaceAbi } from './contracts.ts'
import { type Fixture, openFixture, PERIOD, pieceOf, WINDOW } from './testing/marketplace-fixture.ts'

const piece = pieceOf(new Uint8Array(127).map((_, index) => 3 * index))

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.stop())

const dealAt = fc.nat({ max: 2 })
const action = fc.oneof(
  fc.record({
    kind: fc.constant('propose'),
    duration: fc.integer({ min: PERIOD, max: 5 * PERIOD }),
    pay: fc.nat(9_999),
  }),
  fc.record({
    kind: fc.constant('extend'),
    at: dealAt,
    duration: fc.integer({ min: 1, max: 3 * PERIOD }),
    pay: fc.nat(9_999),
  }),
  fc.record({ kind: fc.constant('pass'), seconds: fc.integer({ min: 1, max: 4 * PERIOD }) }),
  fc.record({ kind: fc.constantFrom('accept', 'accept', 'withdraw', 'slash', 'settle'), at: dealAt }),
  fc.record({ kind: fc.constantFrom('prove', 'prove', 'prove', 'proveWrongly'), at: dealAt }),
)
type Action = {
  readonly kind: string
  readonly at?: number
  readonly duration?: number
  readonly pay?: number
  readonly seconds?: number
}

/** What went into the contract for each deal of a run, and what came out of it. */
class Ledger {
  readonly paidIn = new Map<bigint, bigint>()
  readonly paidOut = new Map<bigint, bigint>()

  read({ logs }: TransactionReceipt): void {
    for (const { eventName, args } of parseEventLogs({ abi: marketplaceAbi, logs })) {
      if (eventName === 'DealProposed') this.#add(this.paidIn, args.dealId, args.totalPayment)
      if (eventName === 'DealExtended') this.#add(this.paidIn, args.dealId, args.extraPayment)
      if (eventName === 'Paid') this.#add(this.paidOut, args.dealId, args.amount)
      if (eventName === 'DealWithdrawn') this.#add(this.paidOut, args.dealId, args.refund)
    }
  }

  get dealIds(): readonly bigint[] {
    return [...this.paidIn.keys()]
  }

  #add(sums: Map<bigint, bigint>, dealId: bigint, amount: bigint): void {
    sums.set(dealId, (sums.get(dealId) ?? 0n) + amount)
  }
}

async function run(actions: readonly Action[]): Promise<void> {
  const { client1: client, prover, stranger } = fixture
  const ledger = new Ledger()
  const heldBefore = await fixture.balance(fixture.marketplace)

  const act = async ({ kind, at = 0, duration = 0, pay = 0, seconds = 0 }: Action) => {
    if (kind === 'pass') return fixture.passSeconds(seconds)
    if (kind === 'propose') {
      const terms = [prover.address, piece.commp, piece.pieceSize, BigInt(duration), BigInt(pay)] as const
      return ledger.read(await client.attempt('proposeDeal', terms))
    }
    const dealId = ledger.dealIds[at]
    if (dealId === undefined) return
    if (kind === 'extend') ledger.read(await client.attempt('extendDeal', [dealId, BigInt(duration), BigInt(pay)]))
    if (kind === 'accept') ledger.read(await prover.attempt('acceptDeal', [dealId]))
    if (kind === 'withdraw') ledger.read(await stranger.attempt('withdrawDeal', [dealId]))
    if (kind === 'slash') ledger.read(await stranger.attempt('slash', [dealId]))
    if (kind === 'settle') ledger.read(await stranger.attempt('settle', [dealId]))
    if (!kind.startsWith('prove')) return
    const { status } = await prover.attempt('openChallenge', [dealId])
    if (status !== 'success') return
    const [, leaf, path] = await fixture.proofOf(dealId, piece)
    const given = kind === 'prove' ? leaf : piece.commp
    const proven = await prover.attempt('prove', [dealId, given, path])
    expect(proven.status).toBe(kind === 'prove' ? 'success' : 'reverted')
  }

  const check = async () => {
    let owed = 0n
    for (const dealId of ledger.dealIds) {
      const { remaining, extraPayment, earned, refundable } = await fixture.deal(dealId)
      const inside = remaining + extraPayment + earned + refundable
      expect(inside + (ledger.paidOut.get(dealId) ?? 0n)).toBe(ledger.paidIn.get(dealId))
      owed += inside
    }
    expect((await fixture.balance(fixture.marketplace)) - heldBefore).toBe(owed)
  }

  for (const each of actions) {
    await act(each)
    await check()
  }
  // In the end nothing stays behind.
  await fixture.passSeconds(20 * PERIOD + WINDOW)
  for (const at of ledger.dealIds.keys()) for (const kind of ['withdraw', 'slash', 'settle']) await act({ kind, at })
  await check()
  expect(await fixture.balance(fixture.marketplace)).toBe(heldBefore)
}

/** Every run begins with a deal that runs, and in every other one it is extended. */
const beginning = fc.constantFrom<readonly Action[]>(
  [
    { kind: 'propose', duration: 2 * PERIOD, pay: 777 },
    { kind: 'accept', at: 0 },
  ],
  [
    { kind: 'propose', duration: 4 * PERIOD + 500, pay: 1_001 },
    { kind: 'accept', at: 0 },
    { kind: 'extend', at: 0, duration: 2 * PERIOD, pay: 333 },
  ],
)

it('pays out or holds what was paid in, to the unit, whatever is done', async () => {
  const actions = fc.array(action, { minLength: 10, maxLength: 25 })
  await fc.assert(
    fc.asyncProperty(beginning, actions, (first, then) => run([...first, ...then])),
    { numRuns: 15, endOnFailure: true },
  )
}, 60_000)
