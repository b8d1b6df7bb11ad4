import { setTimeout as sleep } from 'node:timers/promises'
import { generatePrivateKey } from 'viem/accounts'
import { expect, test } from 'vitest'
import { type Caller, type SendOptions, send, tokenCaller } from './caller.ts'
import { newContent } from './content.ts'
import { missedProofs, UpTimes } from './market-month/missed-proofs.ts'
import { BLOCKS_PER_DAY, DAY_SECONDS, startMonthChain } from './market-month/month-chain.ts'
import { MONTH_PLAN } from './market-month/month-plan.ts'
import { differences, metricOf, viewOfChain, viewOfService } from './market-month/service-view.ts'
import { type MonthProver, openMonthProver, startMonthService } from './market-month/testing-processes.ts'
import { shownTable, type UsdcRow, usdcTable } from './market-month/usdc-table.ts'
import { runSeed, seededRandom } from './seeded-random.ts'

const PROVERS = 3
/** What each account has at first, in units of 10⁻⁶ USDC. */
const START = 10_000n * 10n ** 6n
const BASE_FEE_GWEI = 1n
const DEAR_FEE_GWEI = 100n * BASE_FEE_GWEI
/** The service waits while gas is dear; provers do not. */
const FEE_CAP_GWEI = 50
const DEPTH = 20
const FINALITY_BLOCKS = DEPTH + 4
const METRICS_TOKEN = 'metrics-token-of-the-month'
/** A block comes no sooner than this after the one before, so that a service that looks once a second sees several a day. */
const LEAST_BLOCK_MS = 100
/** How long the service has to bring the files of a day to provers before the day goes on. */
const PLACING_MS = 1_500
/** Days after the month within which all is to come to rest. */
const REST_DAYS = 10
/** The longest term that was asked for is over by then. */
const LONG_DAYS = 60
const { days, uploadDays, filesPerDay, longFiles, leastDeals, outages, reorganisations, dear } = MONTH_PLAN

interface StoredFile {
  readonly cid: string
  readonly dealId: string
  endDay: number
  isRemoved: boolean
}

test(`${days} days of a market: every proof of a living prover is made, and every USDC is accounted for`, async () => {
  const random = seededRandom(runSeed)
  const keys = Array.from({ length: 1 + PROVERS }, () => generatePrivateKey())
  const chain = await startMonthChain(keys, START)
  const { rpcUrl, marketplace, usdc } = chain
  const [operatorKey = '0x', ...proverKeys] = keys
  const [, ...proverAccounts] = chain.accounts
  const reached = { rpcUrl, marketplace, mostBond: START.toString() }
  const provers = await Promise.all(proverKeys.map((privateKey) => openMonthProver({ ...reached, privateKey })))
  const upTimes = new UpTimes()
  for (const account of proverAccounts) upTimes.started(account, chain.time)
  const service = await startMonthService(
    {
      LADE_PROVER: provers.map(({ url }, index) => `${url.origin}#${proverAccounts[index]}`).join(','),
      LADE_CHAIN_RPC: rpcUrl,
      LADE_USDC: usdc,
      LADE_MARKETPLACE: marketplace,
      LADE_CHAIN_KEY: operatorKey,
      LADE_CHAIN_CONFIRMATIONS: '1',
      LADE_CHAIN_FINALITY_BLOCKS: String(FINALITY_BLOCKS),
      LADE_CHAIN_FEE_CAP_GWEI: String(FEE_CAP_GWEI),
      LADE_WALLET_BALANCE_BLOCKS: '1',
      LADE_DEAL_USDC_PER_GIB_DAY: '100',
      LADE_DEAL_BOND_PERCENT: '20',
      LADE_DEAL_WAIT_MS: '0',
      LADE_REDUNDANCY: '2',
      LADE_STAGE: 'async',
      LADE_AGGREGATE_BELOW_MB: '0',
      LADE_AUDIT_SECONDS: String(4 * DAY_SECONDS),
      LADE_METRICS_TOKEN: METRICS_TOKEN,
    },
    chain.time * 1_000,
  )
  const caller = await tokenCaller(service.url)
  const metrics = async () => {
    const headers = { authorization: `Bearer ${METRICS_TOKEN}` }
    return (await send(service.url, 'GET', '/metrics', { headers })).body.toString()
  }
  const counts = { uploads: 0, removals: 0, extensions: 0, copies: 0, reorganisations: 0, downBlocks: 0, waits: 0 }
  const files: StoredFile[] = []

  const ask = async (method: string, path: string, body: unknown = undefined): Promise<boolean> => {
    const answer = await send(service.url, method, path, jsonOf(caller, body))
    // A file that ended by itself meanwhile.
    if ([404, 409, 410].includes(answer.status)) return false
    expect(answer.status, `${method} ${path}: ${answer.body}`).toBe(200)
    return true
  }
  const upload = async (day: number, termDays: number): Promise<void> => {
    const content = newContent(random.between(1_000, 12_000))
    const headers = { ...caller.headers, 'X-Term-Days': String(termDays), 'Content-Type': 'application/octet-stream' }
    const answer = await send(service.url, 'POST', `/api/upload?cid=${content.cid}`, { headers, body: content.bytes() })
    expect(answer.status, String(answer.body)).toBe(200)
    const { dealId } = JSON.parse(answer.body.toString())
    files.push({ cid: content.cid, dealId, endDay: day + termDays, isRemoved: false })
    counts.uploads += 1
  }
  const remove = async (file: StoredFile): Promise<void> => {
    file.isRemoved = true
    if (await ask('DELETE', `/api/files/${file.cid}`)) counts.removals += 1
  }
  const uploadAll = async (day: number): Promise<void> => {
    if (day === 0) for (let one = 0; one < longFiles; one += 1) await upload(day, LONG_DAYS)
    for (let one = 0; one < filesPerDay; one += 1) {
      await upload(day, random.between(2, Math.min(9, days - day - 1)))
    }
    await sleep(PLACING_MS)
  }
  /** Removes, extends and copies some of the files that neither end today nor outlive the month. */
  const changeSome = async (day: number): Promise<void> => {
    const eligible = files.filter(({ isRemoved, endDay }) => !isRemoved && endDay > day + 1 && endDay < days)
    const take = (count: number) =>
      Array.from({ length: Math.min(count, eligible.length) }, () =>
        eligible.splice(random.between(0, eligible.length - 1), 1),
      ).flat()
    const some = Math.ceil(filesPerDay / 10)
    for (const file of take(some)) await remove(file)
    for (const { dealId } of take(some)) {
      const copies = random.pick([1, 3])
      if (await ask('PUT', `/api/deals/${dealId}/redundancy`, { copies })) counts.copies += 1
    }
    for (const file of take(2 * some)) {
      const more = random.between(1, Math.min(4, days - file.endDay))
      if (!(await ask('POST', `/api/deals/${file.dealId}/extend`, { days: more }))) continue
      file.endDay += more
      counts.extensions += 1
    }
  }
  const mine = async (): Promise<void> => {
    const least = sleep(LEAST_BLOCK_MS)
    await chain.mine()
    service.setTime(chain.time * 1_000)
    await Promise.all(provers.map((prover) => prover.settled()))
    await least
  }
  const turn = async (prover: MonthProver, index: number, day: number): Promise<void> => {
    const isDown = outages.some((outage) => outage.prover === index && outage.from <= day && day < outage.to)
    if (isDown) counts.downBlocks += 1
    const account = proverAccounts[index] ?? '0x'
    if (isDown && prover.isUp) {
      await prover.kill()
      upTimes.ended(account, chain.time)
    } else if (!(isDown || prover.isUp)) {
      await prover.start()
      upTimes.started(account, chain.time)
    }
  }

  for (let block = 0; block < days * BLOCKS_PER_DAY; block += 1) {
    const day = block / BLOCKS_PER_DAY
    const isWholeDay = Number.isInteger(day)
    for (const [index, prover] of provers.entries()) await turn(prover, index, day)
    const isDear = dear.some(({ from, to }) => from <= day && day < to)
    chain.setBaseFee(isDear ? DEAR_FEE_GWEI : BASE_FEE_GWEI)
    if (isWholeDay && day < uploadDays) await uploadAll(day)
    if (isWholeDay && day >= 1) await changeSome(day)
    const late = files.findLast(({ isRemoved }) => !isRemoved)
    // Its deals are proposed, and mostly not accepted yet.
    if (block % BLOCKS_PER_DAY === 2 && day < uploadDays && late !== undefined) await remove(late)
    if (isDear && block % 4 === 0) counts.waits += metricOf(await metrics(), 'lade_chain_waiting{cause="fee"}')
    await mine()
    const next = reorganisations[counts.reorganisations]
    if (next === undefined || day < next) continue
    await chain.reorganise(DEPTH)
    counts.reorganisations += 1
  }
  chain.setBaseFee(BASE_FEE_GWEI)

  /** What is not at rest: deals that nobody needs and are not over, or that the two see differently. */
  const unrest = async (): Promise<readonly string[]> => {
    const ofChain = await viewOfChain(chain, await chain.events())
    const ofService = await viewOfService(service.url, caller)
    const isAtRest = (dealId: string, state: string) =>
      isOver(state) || (state === 'active' && ofService.needed.has(dealId))
    const open = [...ofChain.deals.values()].filter(({ dealId, state }) => !isAtRest(dealId, state))
    return [...open.map(({ dealId, state }) => `deal ${dealId} is ${state}`), ...differences(ofService, ofChain)]
  }
  let left: readonly string[] = ['not looked at yet']
  for (let half = 0; half < 2 * REST_DAYS && left.length > 0; half += 1) {
    for (let block = 0; block < BLOCKS_PER_DAY / 2; block += 1) await mine()
    await sleep(1_000)
    left = half < 3 ? left : await unrest()
  }
  const logs = [service.log(), ...provers.map((prover) => prover.log())].map((log) => log.slice(-4_000)).join('\n---\n')
  const story = `seed ${random.seed}, ${JSON.stringify(counts)}\n${logs}`

  const events = await chain.events()
  const ofChain = await viewOfChain(chain, events)
  const ofService = await viewOfService(service.url, caller)
  const table = await usdcTable(chain, events, START)
  const proofs = missedProofs(events, upTimes)
  const states = Object.fromEntries(
    [...Map.groupBy(ofChain.deals.values(), ({ state }) => state)].map(([state, of]) => [state, of.length]),
  )
  const moved = metricOf(await metrics(), 'lade_copies_moved_total')
  const facts = { ...counts, moved, proved: proofs.proved, missed: proofs.missed, states }
  process.stderr.write(`seed ${random.seed} ${JSON.stringify(facts)}\n${shownTable(table.rows)}\n`)

  expect(left, story).toEqual([])
  expect(differences(ofService, ofChain), story).toEqual([])
  expect(ofChain.heldOfEnded).toBe(0n)
  expect(table.wrong).toEqual([])
  expect(proofs.broken, story).toEqual([])
  const contract = table.rows.at(-1)
  if (contract === undefined) throw new Error('no row of the contract')
  const { escrowed, earned, refundable, bonded, forfeited } = await chain.totals(await chain.lastDealId())
  expect(escrowed + earned + refundable + bonded + forfeited, 'what the contract owes').toBe(contract.left)
  expectMetrics(await metrics(), contract, states)

  // The market saw all that it was to see.
  expect(ofChain.deals.size).toBeGreaterThanOrEqual(leastDeals)
  expect(states.active, 'deals of files that outlive the month').toBeLessThanOrEqual(3 * longFiles)
  expect(proofs.missed).toBeGreaterThan(0)
  expect(counts.downBlocks / (PROVERS * days * BLOCKS_PER_DAY)).toBeCloseTo(0.1, 2)
  for (const count of Object.values({ ...counts, moved })) expect(count, story).toBeGreaterThan(0)
}, 1_800_000)

function isOver(state: string): boolean {
  return state === 'settled' || state === 'slashed' || state === 'withdrawn'
}

function jsonOf({ headers }: Caller, body: unknown): SendOptions {
  if (body === undefined) return { headers }
  return { headers: { ...headers, 'Content-Type': 'application/json' }, body: Buffer.from(JSON.stringify(body)) }
}

/** What the service counts is what the contract holds, paid and gave back. */
function expectMetrics(metrics: string, contract: UsdcRow, states: Readonly<Record<string, number>>): void {
  const { putIn, paid, returned, bonded, released, forfeited } = contract
  const expected = {
    lade_deal_escrow_usdc: putIn - paid - returned,
    lade_deal_paid_usdc: paid,
    lade_deal_returned_usdc: returned,
    lade_deal_bond_usdc: bonded - released - forfeited,
    lade_deal_forfeited_usdc: forfeited,
  }
  for (const [name, microUsdc] of Object.entries(expected)) {
    expect(Math.round(1e6 * metricOf(metrics, name)), name).toBe(Number(microUsdc))
  }
  for (const [state, count] of Object.entries(states)) {
    expect(metricOf(metrics, `lade_onchain_deals{state="${state}"}`), state).toBe(count)
  }
}
