/**
 * A walk through the whole network on this machine: a file is staged by a wallet, a deal about it is made on a chain, it is proved, the
 * prover that holds it is killed, another one takes its place, and the deal is extended. Each step is looked at from outside.
 *
 * Ends with 0 when all of it was so, and else with 1 and a sentence.
 */
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLadeClient, type LadeClient } from '@lade/client'
import { hashPiece, paddedSizeBytes, pieceCidV2 } from '@lade/core/piece'
import type { DealEntry } from '@lade/core/wire'
import { privateKeyToAccount } from 'viem/accounts'
import { type ChainDeal, openMarketplace } from './marketplace.ts'
import { type DevnetFacts, isAlive, lade, startOwnDevnet } from './own-devnet.ts'
import { check, NotSo, say, show, step, until } from './walk.ts'

const FILE_BYTES = 2 * 1024 * 1024
/** So short that the deal is about to end from its beginning, and worth extending. */
const DAYS = 1
const EXTRA_DAYS = 4
const DAY_SECONDS = 86_400

const dir = await mkdtemp(join(tmpdir(), 'lade-demo-'))
try {
  step('A network of its own')
  say('A chain, two provers and the service start, each a process on this machine.')
  const devnet = await startOwnDevnet()
  try {
    await walk(devnet.facts)
  } catch (error) {
    await devnet.stop()
    throw error
  }
  step('Everything is taken down')
  const { service, chain, provers } = devnet.facts
  check((await devnet.stop()) === 0, 'The devnet has ended without a complaint.')
  const pids = [service.pid, chain.pid, ...provers.map(({ pid }) => pid)]
  check(!pids.some(isAlive), 'None of its processes is left.')
  console.log('\nAll of it was so.')
} catch (error) {
  if (!(error instanceof NotSo || (error instanceof Error && 'code' in error))) throw error
  console.error(`\n${error.message}`)
  process.exitCode = 1
} finally {
  await rm(dir, { recursive: true, force: true })
}

async function walk(facts: DevnetFacts): Promise<void> {
  show({
    service: facts.service.url,
    chain: facts.chain.rpcUrl,
    marketplace: facts.marketplace,
    ...Object.fromEntries(
      facts.provers.map(({ name, url, account }) => [name.toLowerCase(), `${url}, account ${account}`]),
    ),
    wallet: `${facts.wallet.address}, with USDC and no token of the service`,
  })
  const account = privateKeyToAccount((await readFile(facts.wallet.keyFile, 'utf8')).trim() as `0x${string}`)
  const client = createLadeClient({ url: facts.service.url, wallet: { account, chainId: facts.chain.chainId } })
  const marketplace = openMarketplace(facts)

  step('A file is staged by a wallet')
  const bytes = randomBytes(FILE_BYTES)
  await writeFile(join(dir, 'random.bin'), bytes)
  say(`$ lade put --wallet wallet.key --days ${DAYS} random.bin`)
  const flags = ['--url', facts.service.url, '--wallet', facts.wallet.keyFile]
  const put: { cid: string; dealId: string } = JSON.parse(
    await lade(['put', ...flags, '--days', String(DAYS), '--json', 'random.bin'], dir),
  )
  show({ cid: put.cid, 'deal id': put.dealId })
  const piece = hashPiece(bytes)
  const before = await client.deals.get(put.dealId)
  check(before.pieceCid === pieceCidV2(piece), 'Its piece CID is the one that is computed here from the bytes.')

  step('The deal is on the chain')
  const first = await copyOnChain(client, put.dealId, () => true)
  const firstDeal = await marketplace.deal(first.onchainDealId)
  show({ 'on-chain id': first.onchainDealId, prover: nameOf(first.prover, facts), ...described(firstDeal) })
  check(firstDeal.root === `0x${hexOf(piece.root)}`, "The contract has the root of the file's piece.")
  check(firstDeal.paddedSizeBytes === paddedSizeBytes(FILE_BYTES), 'And its size, with padding.')
  check(isSame(firstDeal.client, facts.operator), 'The service has paid, and the pay is in escrow.')
  check(
    isSame(firstDeal.prover, proverAt(first.prover, facts).account),
    'The prover in the contract is the one that holds the file.',
  )

  step('It is proved, to the service and to the chain')
  const proved = await until('a proof', 20, async () => provedOf(await client.deals.get(put.dealId)))
  check(proved.status === 'active', 'The deal stands, and is "active".')
  const { audits } = await client.deals.proofs(put.dealId)
  check(
    audits.some(({ passed, prover }) => passed && prover === first.prover),
    'The service has audited the prover, and the proof held.',
  )
  const { isPieceOfCid } = await client.challenge(before.pieceCid ?? '')
  check(
    isPieceOfCid,
    'A challenge of our own, of leaves that nobody could know before, was answered; the proof holds here, too.',
  )
  await until('a period that is proven on the chain', 20, async () =>
    when((await marketplace.deal(first.onchainDealId)).provenPeriods > 0),
  )
  check(
    (await marketplace.deal(first.onchainDealId)).state === 'active',
    'The contract has accepted a proof, and the deal is active.',
  )

  step('The prover is killed')
  const lost = proverAt(first.prover, facts)
  process.kill(lost.pid, 'SIGKILL')
  say(`$ kill -9 ${lost.pid}`)
  await until('the end of the prover', 5, async () => when(!isAlive(lost.pid)))
  check(true, `${lost.name} is gone, without a word to anybody.`)
  const served = Buffer.from(await (await fetch(before.retrievalUrl)).arrayBuffer())
  check(served.equals(bytes), 'The service still gives the file, byte for byte.')

  step('Another prover takes its place')
  say('The audits stay without an answer, so the copy counts as lost and is made again elsewhere.')
  const second = await copyOnChain(client, put.dealId, ({ prover }) => prover !== first.prover)
  show({ prover: nameOf(second.prover, facts), 'on-chain id': second.onchainDealId })
  const moved = await until('a proof of the new copy', 20, async () => provedOf(await client.deals.get(put.dealId)))
  const old = moved.copies.find(({ prover }) => prover === first.prover)
  check(old?.state === 'failed', `The copy at ${lost.name} is marked as failed: "${old?.cause}"`)
  check(second.onchainDealId !== first.onchainDealId, 'The new copy has a deal of its own.')
  await until('a proof of it on the chain', 20, async () =>
    when((await marketplace.deal(second.onchainDealId)).provenPeriods > 0),
  )
  const secondDeal = await marketplace.deal(second.onchainDealId)
  check(
    secondDeal.root === firstDeal.root && !isSame(secondDeal.prover, firstDeal.prover),
    'Of the same piece, by the other prover, and proved.',
  )

  step('The deal is extended')
  const extended = await client.deals.extend(put.dealId, { days: EXTRA_DAYS })
  show({ before: before.expiresAt, now: extended.expiresAt })
  const addedSeconds = (Date.parse(extended.expiresAt) - Date.parse(before.expiresAt)) / 1000
  check(addedSeconds === EXTRA_DAYS * DAY_SECONDS, `The service keeps the file for ${EXTRA_DAYS} days more.`)
  check(extended.status === 'active', 'The deal is "active" as before.')
  const longer = await until('the extension on the chain', 30, async () => {
    const deal = await marketplace.deal(second.onchainDealId)
    return deal.endsAt > secondDeal.endsAt ? deal : undefined
  })
  show({ 'ends at': new Date(longer.endsAt * 1000).toISOString(), escrow: usdc(longer.escrow) })
  check(
    longer.endsAt * 1000 >= Date.parse(extended.expiresAt),
    'The deal on the chain lasts as long, and is paid for it.',
  )
}

/** The deal once as many provers as it should have had have proved it. */
function provedOf(deal: DealEntry): DealEntry | undefined {
  return deal.provedCopies === deal.redundancy ? deal : undefined
}

interface OnChainCopy {
  readonly prover: string
  readonly onchainDealId: string
}

/** Waits for a copy that is stored, and has a deal of its own on the chain. */
function copyOnChain(
  client: LadeClient,
  dealId: string,
  isMeant: (copy: DealEntry['copies'][number]) => boolean,
): Promise<OnChainCopy> {
  return until('a copy with a deal on the chain', 45, async () => {
    const { copies } = await client.deals.get(dealId)
    const copy = copies.find((one) => isMeant(one) && one.state === 'stored' && one.onchainDealId !== null)
    return copy === undefined || copy.onchainDealId === null
      ? undefined
      : { prover: copy.prover, onchainDealId: copy.onchainDealId }
  })
}

function proverAt(name: string, { provers }: DevnetFacts): DevnetFacts['provers'][number] {
  const found = provers.find(({ url }) => name.startsWith(url))
  if (found === undefined) throw new NotSo(`Nobody knows the prover ${name}.`)
  return found
}

function nameOf(prover: string, facts: DevnetFacts): string {
  return proverAt(prover, facts).name
}

function described({ root, paddedSizeBytes: size, durationSeconds, escrow }: ChainDeal) {
  return {
    root,
    'padded size': `${size.toLocaleString('en-US')} bytes`,
    term: `${durationSeconds / DAY_SECONDS} days`,
    escrow: usdc(escrow),
  }
}

function usdc(microUsdc: bigint): string {
  return `${Number(microUsdc) / 1_000_000} USDC`
}

/** For {@link until}: something once it is so. */
function when(isSo: boolean): true | undefined {
  return isSo ? true : undefined
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
