import { join } from 'node:path'
import { deployContracts, marketplaceAbi, marketplaceV1Abi } from '@lade/contracts'
import { ANVIL_KEY } from '@lade/contracts/anvil'
import { type DealMaking, openDealMaking } from '@lade/server/testing/deal-making'
import { type Abi, type Address, createClient, decodeFunctionData, getAddress, http, publicActions } from 'viem'
import { expect, onTestFinished, test } from 'vitest'
import { tempDirectory } from './temp-directory.ts'
import { startDealChain } from './testing-deal-chain.ts'
import { type MarketProver, openMarketProver } from './testing-market-prover.ts'

const OLD_DEALS = 50
const NEW_DEALS = 20
const TERM_DAYS = 5
const EXTENDED_DAYS = 8
const DAY_SECONDS = 86_400
/** What every deal is paid with, and what of that is the bond of a new one. */
const PRICE = 1_000
const BOND = 100
const FINALITY_BLOCKS = 4
/** Of the contracts. */
const [SETTLED, SLASHED, WITHDRAWN] = [3, 4, 5]
/** Each lot of deals goes another way; what is done with both contracts is done with the same numbers of each. */
const OLD = {
  ignored: [0, 10],
  proved: [10, 30],
  dropped: [30, 35],
  removed: [35, 40],
  released: [40, 45],
  extended: [45, 50],
} as const
const NEW = { ignored: [0, 5], proved: [5, 15], removed: [15, 20] } as const

type Staged = Awaited<ReturnType<DealMaking['stage']>>

test(`${OLD_DEALS} live deals of a contract end as they should after an upgrade to a new one, and no call goes to the wrong one`, async () => {
  const chain = await startDealChain(DAY_SECONDS)
  const { rpcUrl } = chain.anvil
  const [older = '0x'] = chain.options.marketplaces
  const options = {
    ...{ ...chain.options, rpcUrl, file: join(tempDirectory(), 'lade.db'), finalityBlocks: FINALITY_BLOCKS },
    ...{ maxBatch: 20, raiseAfterMs: 60_000, bondPercent: (100 * BOND) / PRICE, clockAheadMs: 0 },
  }
  const contents = new Map<bigint, string>()
  const bytesOf = (dealId: bigint) => Buffer.from(contents.get(dealId) ?? '')
  const proving = { rpcUrl, usdc: chain.options.usdc, prover: chain.options.prover, bytesOf }
  const oldProver = await openMarketProver({ ...proving, marketplace: older, version: 1 })

  let making = await openDealMaking(options)
  onTestFinished(() => making.close())
  const rounds = async (count: number) => {
    for (let round = 0; round < count; round += 1) {
      await chain.mine()
      await making.proposer.round()
    }
  }
  /** Stages files, has their deals made, and answers the numbers of these. */
  const make = async (count: number, name: string): Promise<{ staged: readonly Staged[]; ids: readonly bigint[] }> => {
    const staged: Staged[] = []
    for (let index = 0; index < count; index += 1) staged.push(await making.stage(`${name} ${index}`, TERM_DAYS))
    await rounds(FINALITY_BLOCKS + 4)
    const deals = await making.dealsOf(staged)
    const ids = deals.map(({ onchainId }) => BigInt(onchainId ?? 0))
    for (const [index, id] of ids.entries()) contents.set(id, `${name} ${index}`)
    return { staged, ids }
  }
  const end = async ({ file, copy }: Staged) => {
    const record = await making.records.files.bySequence(file)
    if (record === undefined) throw new Error('no file')
    const now = Date.now() + options.clockAheadMs
    await making.records.files.remove({ principal: record.principal, key: record.key, now })
    await making.records.placements.fail({ copy, cause: 'The file was removed.', now })
  }
  const pass = async (seconds: number) => {
    options.clockAheadMs += seconds * 1_000
    await chain.pass(seconds)
  }

  const old = await make(OLD_DEALS, 'old')
  expect(old.ids).toEqual(Array.from({ length: OLD_DEALS }, (_, index) => BigInt(index + 1)))
  const ofOld = (lot: keyof typeof OLD) => old.ids.slice(...OLD[lot])
  await oldProver.accept([...ofOld('proved'), ...ofOld('dropped'), ...ofOld('removed'), ...ofOld('extended')])
  await rounds(2)
  await making.close()

  // The upgrade: a new contract that numbers above the old one, first in the settings.
  await chain.setAutomine(true)
  const { marketplace: newer } = await deployContracts({
    ...{ rpcUrl, privateKey: ANVIL_KEY, usdc: chain.options.usdc, version: 2, firstDealId: BigInt(OLD_DEALS + 1) },
    ...{ provingPeriodSeconds: DAY_SECONDS, acceptanceWindowSeconds: DAY_SECONDS },
  })
  await chain.setAutomine(false)
  const newProver = await openMarketProver({ ...proving, marketplace: newer, version: 2 })
  making = await openDealMaking(Object.assign(options, { marketplaces: [newer, older] }))
  const parties = [making.chain.marketplace?.account ?? '0x', proving.prover, older, newer] as const
  const holdings = () => Promise.all(parties.map((party) => chain.balanceOf(party)))
  const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n)
  const before = await holdings()
  const fresh = await make(NEW_DEALS, 'new')
  expect(fresh.ids[0]).toBe(BigInt(OLD_DEALS + 1))
  const ofNew = (lot: keyof typeof NEW) => fresh.ids.slice(...NEW[lot])
  await newProver.accept([...ofNew('proved'), ...ofNew('removed')])
  await rounds(2)
  for (const staged of old.staged.slice(...OLD.released)) await end(staged)

  for (let day = 0; day <= EXTENDED_DAYS + 3; day += 1) {
    const isProved = (lot: keyof typeof OLD) => lot !== 'dropped' || day === 0
    const lots = (['proved', 'dropped', 'removed', 'extended'] as const).filter(isProved)
    await oldProver.prove(lots.flatMap(ofOld))
    await newProver.prove([...ofNew('proved'), ...ofNew('removed')])
    await rounds(6)
    if (day === 1) {
      for (const staged of [...old.staged.slice(...OLD.removed), ...fresh.staged.slice(...NEW.removed)])
        await end(staged)
      for (const { file } of old.staged.slice(...OLD.extended)) {
        const now = Date.now() + options.clockAheadMs
        await making.records.files.change({ file, now, term: { termDays: EXTENDED_DAYS }, maxTermDays: 365 })
      }
    }
    await rounds(6)
    await pass(DAY_SECONDS)
    await rounds(6)
  }
  await rounds(3 * FINALITY_BLOCKS)

  await expectStates(oldProver, {
    [WITHDRAWN]: [...ofOld('ignored'), ...ofOld('released')],
    [SLASHED]: ofOld('dropped'),
  })
  await expectStates(oldProver, { [SETTLED]: [...ofOld('proved'), ...ofOld('removed'), ...ofOld('extended')] })
  await expectStates(newProver, { [WITHDRAWN]: ofNew('ignored'), [SETTLED]: [...ofNew('proved'), ...ofNew('removed')] })

  const find = async (contract: Address, ids: readonly bigint[]) =>
    making.records.escrow.find(
      ids.map((id) => ({ contract: `eip155:31337:${getAddress(contract)}`, onchainId: id.toString() })),
    )
  const money = async (contract: Address, ids: readonly bigint[]) =>
    new Set(
      (await find(contract, ids)).map(({ state, paidInMicroUsdc, paidOutMicroUsdc, returnedMicroUsdc }) =>
        [state, paidInMicroUsdc, paidOutMicroUsdc, returnedMicroUsdc].join(' '),
      ),
    )
  expect(await money(older, [...ofOld('ignored'), ...ofOld('released')])).toEqual(
    new Set([`withdrawn ${PRICE} 0 ${PRICE}`]),
  )
  expect(await money(older, [...ofOld('proved'), ...ofOld('removed')])).toEqual(
    new Set([`settled ${PRICE} ${PRICE} 0`]),
  )
  expect(await money(older, ofOld('dropped'))).toEqual(
    new Set([`slashed ${PRICE} ${PRICE / TERM_DAYS} ${PRICE - PRICE / TERM_DAYS}`]),
  )
  expect(await money(older, ofOld('extended')), 'paid twice').toEqual(new Set([`settled ${2 * PRICE} ${2 * PRICE} 0`]))
  expect(await money(newer, ofNew('ignored'))).toEqual(new Set([`withdrawn ${PRICE} 0 ${PRICE}`]))
  expect(await money(newer, ofNew('proved'))).toEqual(new Set([`settled ${PRICE} ${PRICE} 0`]))
  const [removed = ''] = await money(newer, ofNew('removed'))
  expect(removed, 'two periods are proved, and the notice').toMatch(/^settled 1000 (600|800) (400|200)$/)

  const escrow = making.proposer.state().escrow
  expect(escrow).toMatchObject({
    bondMicroUsdc: 15 * BOND,
    bondReleasedMicroUsdc: 15 * BOND,
    bondForfeitedMicroUsdc: 0,
  })
  expect(escrow && escrow.paidInMicroUsdc - escrow.paidOutMicroUsdc - escrow.returnedMicroUsdc).toBe(0)
  const after = await holdings()
  expect(after.slice(2), 'what the contracts hold').toEqual([0n, 0n])
  expect(sum(after)).toBe(sum(before))

  const calls = await callsOf(rpcUrl, making.chain.marketplace?.account ?? '0x')
  expect(calls.filter(({ succeeded }) => !succeeded)).toEqual([])
  const upgradedAt = calls.findIndex(({ to }) => to === getAddress(newer))
  for (const [index, { to, name, dealId }] of calls.entries()) {
    const isOlder = to === getAddress(older)
    if (name === 'proposeDeals' && index > upgradedAt) expect(isOlder, 'new deals').toBe(false)
    if (dealId !== undefined) expect(isOlder, `${name} ${dealId}`).toBe(dealId <= BigInt(OLD_DEALS))
  }
  const names = Object.groupBy(
    calls,
    ({ to, name }) => `${name} ${to === getAddress(older) ? 1 : to === getAddress(newer) ? 2 : ''}`,
  )
  process.stderr.write(
    `${JSON.stringify(Object.fromEntries(Object.entries(names).map(([name, of]) => [name, of?.length])))}\n`,
  )
}, 600_000)

async function expectStates(prover: MarketProver, expected: Record<number, readonly bigint[]>): Promise<void> {
  for (const [state, ids] of Object.entries(expected)) {
    for (const id of ids) expect([id, await prover.stateOf(id)]).toEqual([id, Number(state)])
  }
}

/** Every transaction of an account that calls a marketplace, as its own version of the contract reads it. */
async function callsOf(rpcUrl: string, account: Address) {
  const client = createClient({ transport: http(rpcUrl) }).extend(publicActions)
  const newest = await client.getBlockNumber({ cacheTime: 0 })
  const calls: { to: Address; name: string; dealId: bigint | undefined; succeeded: boolean }[] = []
  for (let number = 0n; number <= newest; number += 1n) {
    const { transactions } = await client.getBlock({ blockNumber: number, includeTransactions: true })
    for (const { from, to, input, hash } of transactions) {
      if (to === null || getAddress(from) !== getAddress(account)) continue
      const read = [marketplaceV1Abi, marketplaceAbi].map((abi) => decoded(abi as Abi, input)).find(Boolean)
      if (read === undefined || input.length <= 10) continue
      const { status } = await client.getTransactionReceipt({ hash })
      calls.push({ to: getAddress(to), ...read, succeeded: status === 'success' })
    }
  }
  return calls
}

function decoded(abi: Abi, data: `0x${string}`): { name: string; dealId: bigint | undefined } | undefined {
  try {
    const { functionName, args } = decodeFunctionData({ abi, data })
    const [first] = args ?? []
    return { name: functionName, dealId: typeof first === 'bigint' ? first : undefined }
  } catch {
    return undefined
  }
}
