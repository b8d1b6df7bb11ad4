import { setTimeout as sleep } from 'node:timers/promises'
import { LadeError } from '@lade/core/errors'
import { WorkBudget } from '@lade/node/budget/work-budget'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Address } from '../chain/chain.ts'
import { type FakeChain, openFakeChain } from '../chain/fake-chain.ts'
import { networkOf } from '../quota-rule/network-of.ts'
import { ALICE, BOB } from './testing-wallets.ts'
import { WalletChains } from './wallet-chains.ts'

const ATTACKER = 'ip:192.0.2.1'
const OTHER = 'ip:192.0.2.2'
const message = Buffer.from('a message')
const fake = Buffer.alloc(65, 27)

describe('the chain as wallets may ask it', () => {
  const clock = { now: 0 }
  let inner: FakeChain
  let budget: WorkBudget
  let chains: WalletChains
  let asked: number
  let questionMs: number
  let atOnce: { now: number; most: number }
  beforeEach(() => {
    clock.now = 0
    asked = 0
    questionMs = 0
    atOnce = { now: 0, most: 0 }
    inner = openFakeChain()
    const { isSignedBy } = inner
    inner.isSignedBy = (request, asking = (question) => question()) =>
      isSignedBy(request, (question) =>
        asking(async () => {
          asked += 1
          atOnce.now += 1
          atOnce.most = Math.max(atOnce.most, atOnce.now)
          await sleep(questionMs)
          atOnce.now -= 1
          return question()
        }),
      )
    budget = new WorkBudget({ now: () => clock.now, log: { warn: () => {} }, networkOf })
    chains = new WalletChains({ chain: inner, budget })
  })

  let forgeries = 0
  const forged = (): Uint8Array => {
    forgeries += 1
    const signature = Buffer.from(fake)
    signature.writeUInt32BE(forgeries)
    return signature
  }
  const ask = (principal: string, account: Address = ALICE.address, signature: Uint8Array = fake) =>
    chains.for(principal).isSignedBy({ account, message, signature })

  it('asks nobody about a signature of the key, however much is asked for others', async () => {
    const signature = Buffer.from((await ALICE.signMessage({ message: { raw: message } })).slice(2), 'hex')
    const flood = Array.from({ length: 300 }, () => ask(ATTACKER, ALICE.address, forged()).catch(() => false))
    await expect(ask(OTHER, ALICE.address, signature)).resolves.toBe(true)
    await Promise.all(flood)
    const before = asked
    await expect(ask(OTHER, ALICE.address, signature)).resolves.toBe(true)
    expect(asked).toBe(before)
    expect(budget.usedMs(OTHER)).toBe(0)
  })

  it('asks about fake signatures until their time is used up, two at once, and it is asked by others as before', async () => {
    questionMs = 150
    const outcomes = await Promise.allSettled(Array.from({ length: 300 }, () => ask(ATTACKER, ALICE.address, forged())))
    expect(asked).toBeGreaterThan(20)
    expect(asked).toBeLessThanOrEqual(36)
    expect(atOnce.most).toBe(2)
    const refusals = outcomes.filter((outcome) => outcome.status === 'rejected')
    expect(refusals.length).toBeGreaterThanOrEqual(264)
    for (const { reason } of refusals)
      expect(reason).toMatchObject({ code: 'over_budget', evidence: { work: 'chain' } })
    await expect(ask(ATTACKER)).rejects.toMatchObject({ code: 'over_budget' })

    questionMs = 0
    inner.acceptAsContract(BOB.address, fake)
    for (let times = 0; times < 105; times += 1) await expect(ask(OTHER, BOB.address)).resolves.toBe(true)
    clock.now = 240_000
    await expect(ask(ATTACKER)).resolves.toBe(false)
  })

  it('asks about a refused signature once, whoever sends it again, and about an accepted one each time', async () => {
    for (const principal of [ATTACKER, ATTACKER, OTHER]) await expect(ask(principal)).resolves.toBe(false)
    expect(asked).toBe(1)
    await expect(ask(OTHER, ALICE.address, forged())).resolves.toBe(false)
    await expect(
      chains.for(OTHER).isSignedBy({ account: ALICE.address, message: fake, signature: fake }),
    ).resolves.toBe(false)
    expect(asked).toBe(3)
    inner.acceptAsContract(BOB.address, fake)
    for (let times = 0; times < 2; times += 1) await expect(ask(OTHER, BOB.address)).resolves.toBe(true)
    expect(asked).toBe(5)
  })

  it('asks again when the chain did not answer', async () => {
    inner.acceptAsContract(BOB.address, fake)
    inner.setOnline(false)
    await expect(ask(OTHER, BOB.address)).rejects.toMatchObject({ code: 'chain_offline' })
    inner.setOnline(true)
    await expect(ask(OTHER, BOB.address)).resolves.toBe(true)
  })

  it('calls two contracts while a hundred calls of a third wait, four at once in all', async () => {
    questionMs = 100
    const flood = Promise.allSettled(
      Array.from({ length: 100 }, (_, index) => ask(`ip:198.51.100.${index}`, ALICE.address, forged())),
    )
    while (asked < 2) await sleep(5)
    inner.acceptAsContract(BOB.address, fake)
    const began = performance.now()
    await expect(Promise.all([ask(OTHER, BOB.address), ask(OTHER, BOB.address)])).resolves.toEqual([true, true])
    expect(performance.now() - began).toBeLessThan(1_000)
    expect(atOnce.most).toBeLessThanOrEqual(4)
    const outcomes = await flood
    // 64 may wait, beside the two that run.
    const refused = outcomes.filter(({ status }) => status === 'rejected').length
    expect(refused).toBeGreaterThan(10)
    expect(refused).toBeLessThanOrEqual(34)
  })

  it('charges balances of nothing, and no others', async () => {
    inner.setBalance(BOB.address, 1n)
    for (let times = 0; times < 200; times += 1) {
      await expect(chains.for(OTHER).leastUsdcBalance(BOB.address)).resolves.toBe(1n)
    }
    const poor = () => chains.for(ATTACKER).leastUsdcBalance(ALICE.address)
    for (let times = 0; times < 100; times += 1) await expect(poor()).resolves.toBe(0n)
    clock.now = 1
    await poor().catch(() => {})
    await expect(poor()).rejects.toMatchObject({ code: 'over_budget' })
  })

  it('recovers the key of another first, and lets others come in between fake signatures', async () => {
    const signature = Buffer.from((await ALICE.signMessage({ message: { raw: message } })).slice(2), 'hex')
    const order: string[] = []
    const flood = Array.from({ length: 30 }, async () => {
      await ask(ATTACKER).catch(() => {})
      order.push('fake')
    })
    await flood[0]
    await ask(OTHER, ALICE.address, signature)
    order.push('by key')
    await Promise.all(flood)
    expect(order.indexOf('by key')).toBeLessThan(10)
  })

  it('charges questions that the chain does not answer', async () => {
    inner.setOnline(false)
    let answers = 0
    const failure = async () => ask(OTHER).catch((error: unknown) => error)
    while (LadeError.has(await failure(), 'chain_offline')) answers += 1
    // Each is charged with 50 ms at the least, of five seconds.
    expect(answers).toBeGreaterThan(40)
    expect(answers).toBeLessThanOrEqual(101)
    await expect(ask(OTHER)).rejects.toMatchObject({ code: 'over_budget' })
  })

  it('asks nothing for a client that has gone', async () => {
    await expect(
      chains.for(ATTACKER, () => true).isSignedBy({ account: ALICE.address, message, signature: fake }),
    ).resolves.toBe(false)
    expect(asked).toBe(0)
  })
})
