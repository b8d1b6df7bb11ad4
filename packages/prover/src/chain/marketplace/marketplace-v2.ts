import { challengedLeaves, dealTermsHash } from '@lade/contracts/challenge'
import { marketplaceAbi } from '@lade/contracts/marketplace'
import { hex0xOf } from '@lade/node/hashing/hex'
import { type Abi, encodeFunctionData, erc20Abi, type Log, parseEventLogs, toFunctionSelector, zeroAddress } from 'viem'
import { type ChainAccount, type EncodedCall, type Refused, refusedOr } from '../chain-account.ts'
import { type CallKind, DEAL_STATES, type Deal, type Head, type Terms } from '../deal.ts'
import { ChallengeSeeds } from './challenge-seeds.ts'
import { findFirstDealId } from './find-first-deal.ts'
import type { Challenge, DealProof, Marketplace, ProverCall, Skipped } from './marketplace.ts'
import { readInBatches } from './read-in-batches.ts'

const abi = marketplaceAbi
/** EIP-2935: keeps the hashes of the last 8191 blocks, on chains that have it. */
const HISTORY = '0x0000F90827F1C53a10cb7A02335B175320002935'
const HISTORY_BLOCKS = 8191n
/** As many as contracts can read the hashes of elsewhere. */
const RECENT_BLOCKS = 256n
/** A beacon answers for all blocks. */
const NO_LIMIT = 2n ** 40n
/** The places of `BondState`. */
const [BONDED, RELEASED] = [1, 2]

interface Facts {
  readonly chainId: number
  readonly firstDealId: bigint
  readonly terms: Terms
  readonly usdc: `0x${string}`
  /** False where the contract reads headers of blocks. */
  readonly hasBeacon: boolean
}

/** The second version of the contract: five leaves a period, drawn by the randomness of a later block, and calls for many deals. */
export class MarketplaceV2 implements Marketplace {
  readonly version = 2
  readonly expectedGas = { accept: 75_000n, open: 35_000n, prove: 240_000n, settle: 75_000n }
  readonly address: `0x${string}`
  readonly #chain: ChainAccount
  readonly #facts: Facts
  readonly #seeds: ChallengeSeeds

  private constructor(chain: ChainAccount, address: `0x${string}`, facts: Facts) {
    this.#chain = chain
    this.address = address
    this.#facts = facts
    this.#seeds = new ChallengeSeeds(chain.client)
  }

  static async open(chain: ChainAccount, address: `0x${string}`): Promise<MarketplaceV2> {
    const contract = { address, abi } as const
    const { client } = chain
    const [provingPeriod, acceptanceWindow, missesToSlash, leavesOfProof, seedDelay, beacon, usdc] = await Promise.all([
      client.readContract({ ...contract, functionName: 'provingPeriod' }),
      client.readContract({ ...contract, functionName: 'acceptanceWindow' }),
      client.readContract({ ...contract, functionName: 'MISSES_TO_SLASH' }),
      client.readContract({ ...contract, functionName: 'CHALLENGED_LEAVES' }),
      client.readContract({ ...contract, functionName: 'seedDelay' }),
      client.readContract({ ...contract, functionName: 'beacon' }),
      client.readContract({ ...contract, functionName: 'usdc' }),
    ])
    const hasBeacon = beacon !== zeroAddress
    const history = hasBeacon ? undefined : await client.getCode({ address: HISTORY })
    const blocks = history === undefined ? RECENT_BLOCKS : HISTORY_BLOCKS
    const terms: Terms = {
      provingPeriodSeconds: Number(provingPeriod),
      acceptanceWindowSeconds: Number(acceptanceWindow),
      missesToSlash,
      leavesOfProof: Number(leavesOfProof),
      drawBlocks: BigInt(seedDelay),
      challengeBlocks: hasBeacon ? NO_LIMIT : blocks,
    }
    const firstDealId = await findFirstDealId(
      await client.readContract({ ...contract, functionName: 'lastDealId' }),
      async (dealId) => (await client.readContract({ ...contract, functionName: 'deals', args: [dealId] })).state !== 0,
    )
    const chainId = await chain.chainId()
    return new MarketplaceV2(chain, address, { chainId, firstDealId, terms, usdc, hasBeacon })
  }

  get terms(): Terms {
    return this.#facts.terms
  }

  get firstDealId(): bigint {
    return this.#facts.firstDealId
  }

  takesMany(kind: CallKind): boolean {
    return kind === 'open' || kind === 'prove'
  }

  lastDealId(): Promise<bigint> {
    return this.#chain.client.readContract({ address: this.address, abi, functionName: 'lastDealId' })
  }

  deals(dealIds: readonly bigint[]): AsyncGenerator<Deal[]> {
    return readInBatches(dealIds, (dealId) => this.#deal(dealId))
  }

  async challengeOf(deal: Deal, head: Head): Promise<Challenge | Refused> {
    const { dealId, period, leafCount, challengeBlock } = deal
    if (this.#facts.hasBeacon) return this.#askForChallenge(deal)
    const drawn = await this.#seeds.seedOf(challengeBlock, head)
    if ('refused' in drawn) return drawn
    const { seed, header } = drawn
    return { leafIndexes: challengedLeaves({ seed, dealId, period, leafCount }).map(Number), header }
  }

  encode(call: ProverCall): EncodedCall {
    const [functionName, data] = call.kind === 'prove' ? encodeProofs(call.proofs) : this.#encodeCall(call)
    return { to: this.address, data, functionName, abi: abi as Abi }
  }

  skippedIn(logs: readonly Log[]): readonly Skipped[] {
    const own = logs.filter(({ address }) => address.toLowerCase() === this.address)
    const events = parseEventLogs({ abi, logs: [...own], eventName: 'Skipped' })
    return events.map(({ args }) => ({ dealId: args.dealId, reason: nameOfError(args.reason) }))
  }

  async allowBond(bond: bigint, most: bigint): Promise<EncodedCall | Refused | undefined> {
    const { client, address: prover } = this.#chain
    const token = { address: this.#facts.usdc, abi: erc20Abi } as const
    const [balance, allowance] = await Promise.all([
      client.readContract({ ...token, functionName: 'balanceOf', args: [prover] }),
      client.readContract({ ...token, functionName: 'allowance', args: [prover, this.address] }),
    ])
    if (balance < bond) return { refused: 'the account has too little USDC for the bond' }
    if (allowance >= bond) return undefined
    const functionName = 'approve'
    const data = encodeFunctionData({ abi: erc20Abi, functionName, args: [this.address, most] })
    return { to: token.address, data, functionName, abi: erc20Abi as Abi }
  }

  /** Beacons may answer contracts only. */
  async #askForChallenge({ dealId }: Deal): Promise<Challenge | Refused> {
    const call = { address: this.address, abi, functionName: 'challengedLeaves', args: [dealId, '0x'] } as const
    const leaves = await refusedOr(this.#chain.client.readContract(call), { ...call, abi: abi as Abi })
    return 'refused' in leaves ? leaves : { leafIndexes: leaves.map(Number), header: '0x' }
  }

  #encodeCall({ kind, deals }: Exclude<ProverCall, { kind: 'prove' }>): [functionName: string, data: `0x${string}`] {
    const dealIds = deals.map(({ dealId }) => dealId)
    const [deal] = deals
    if (deal === undefined) throw new TypeError('a call is about a deal')
    const { dealId } = deal
    if (kind === 'open' && deals.length > 1) {
      return ['openMany', encodeFunctionData({ abi, functionName: 'openMany', args: [dealIds] })]
    }
    if (deals.length > 1) throw new TypeError(`${kind} is about one deal`)
    if (kind === 'accept') {
      const args = [dealId, this.#termsHashOf(deal)] as const
      return ['acceptDeal', encodeFunctionData({ abi, functionName: 'acceptDeal', args })]
    }
    const functionName = kind === 'open' ? 'openChallenge' : 'settle'
    return [functionName, encodeFunctionData({ abi, functionName, args: [dealId] })]
  }

  /** Of the terms as they were read and checked: the contract refuses any others. */
  #termsHashOf(deal: Deal): `0x${string}` {
    return dealTermsHash({
      chainId: this.#facts.chainId,
      marketplace: this.address,
      dealId: deal.dealId,
      client: deal.client as `0x${string}`,
      prover: deal.prover as `0x${string}`,
      commp: hex0xOf(deal.root),
      pieceSize: deal.paddedSizeBytes,
      leafCount: deal.leafCount,
      durationSeconds: deal.durationSeconds,
      payment: deal.remaining,
      bond: deal.bond,
      extraDurationSeconds: deal.extraSeconds,
      extraPayment: deal.extraPayment,
    })
  }

  async #deal(dealId: bigint): Promise<Deal> {
    const call = { address: this.address, abi, functionName: 'deals', args: [dealId] } as const
    const deal = await this.#chain.client.readContract(call)
    const state = DEAL_STATES[deal.state] ?? 'none'
    return {
      contract: this.address,
      dealId,
      state,
      client: deal.client.toLowerCase(),
      prover: deal.prover.toLowerCase(),
      root: Buffer.from(deal.commp.slice(2), 'hex'),
      paddedSizeBytes: deal.pieceSize,
      leafCount: deal.leafCount,
      since: deal.since,
      durationSeconds: deal.duration,
      extraSeconds: deal.extraDuration,
      accountedUntil: deal.accountedUntil,
      missesInARow: deal.missesInARow,
      period: deal.period,
      challengeBlock: BigInt(deal.seedBlock),
      remaining: deal.remaining,
      extraPayment: deal.extraPayment,
      earned: deal.earned + (deal.bondState === RELEASED ? deal.bondLeft : 0n),
      bond: deal.bond,
      bonded: deal.bondLeft,
      bondAtRisk: deal.bondState === BONDED ? deal.bondLeft : 0n,
    }
  }
}

function encodeProofs(proofs: readonly DealProof[]): [functionName: string, data: `0x${string}`] {
  const [first] = proofs
  if (first === undefined) throw new TypeError('a proof is about a deal')
  if (proofs.length === 1) {
    const args = [first.deal.dealId, headerOf(first), nodesOf(first)] as const
    return ['prove', encodeFunctionData({ abi, functionName: 'prove', args })]
  }
  const headers = [...new Set(proofs.map(headerOf))]
  const parts = proofs.map((proof) => ({
    dealId: proof.deal.dealId,
    header: BigInt(headers.indexOf(headerOf(proof))),
    nodes: nodesOf(proof),
  }))
  return ['proveMany', encodeFunctionData({ abi, functionName: 'proveMany', args: [headers, parts] })]
}

function headerOf({ challenge }: DealProof): `0x${string}` {
  return challenge.header ?? '0x'
}

/** Each leaf is followed by its siblings, from its own up to those below the root. */
function nodesOf({ leaves }: DealProof): `0x${string}`[] {
  return leaves.flatMap(({ leaf, proof }) => [leaf, ...proof].map(hex0xOf))
}

/** By the first bytes of its hash, as the contract names it in events. */
function nameOfError(selector: `0x${string}`): string {
  for (const item of abi) {
    if (item.type !== 'error') continue
    const types = item.inputs.map(({ type }) => type)
    if (toFunctionSelector(`${item.name}(${types.join(',')})`) === selector) return item.name
  }
  return selector
}
