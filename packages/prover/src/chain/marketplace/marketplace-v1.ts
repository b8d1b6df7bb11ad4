import { marketplaceV1Abi } from '@lade/contracts/marketplace-v1'
import { hex0xOf } from '@lade/node/hashing/hex'
import { encodeFunctionData } from 'viem'
import { type ChainAccount, type EncodedCall, type Refused, refusedOr } from '../chain-account.ts'
import { type CallKind, DEAL_STATES, type Deal, type Terms } from '../deal.ts'
import type { Challenge, Marketplace, ProverCall, Skipped } from './marketplace.ts'
import { readInBatches } from './read-in-batches.ts'

const abi = marketplaceV1Abi
/** As many as the contract can read the hashes of. */
const CHALLENGE_BLOCKS = 256n
const MISSES_TO_SLASH = 3
const LEAF_BYTES = 32n
const NO_BOND = { bond: 0n, bonded: 0n, bondAtRisk: 0n }

/** The first version of the contract: one leaf a period, drawn by the hash of the block that opens the challenge. */
export class MarketplaceV1 implements Marketplace {
  readonly version = 1
  readonly firstDealId = 1n
  readonly expectedGas = { accept: 55_000n, open: 37_208n, prove: 85_127n, settle: 75_000n }
  readonly address: `0x${string}`
  readonly terms: Terms
  readonly #chain: ChainAccount

  private constructor(chain: ChainAccount, address: `0x${string}`, terms: Terms) {
    this.#chain = chain
    this.address = address
    this.terms = terms
  }

  static async open(chain: ChainAccount, address: `0x${string}`): Promise<MarketplaceV1> {
    const contract = { address, abi } as const
    const [provingPeriod, acceptanceWindow] = await Promise.all([
      chain.client.readContract({ ...contract, functionName: 'provingPeriod' }),
      chain.client.readContract({ ...contract, functionName: 'acceptanceWindow' }),
    ])
    return new MarketplaceV1(chain, address, {
      provingPeriodSeconds: Number(provingPeriod),
      acceptanceWindowSeconds: Number(acceptanceWindow),
      missesToSlash: MISSES_TO_SLASH,
      leavesOfProof: 1,
      drawBlocks: 0n,
      challengeBlocks: CHALLENGE_BLOCKS,
    })
  }

  takesMany(_kind: CallKind): boolean {
    return false
  }

  lastDealId(): Promise<bigint> {
    return this.#chain.client.readContract({ ...this.#contract(), functionName: 'lastDealId' })
  }

  deals(dealIds: readonly bigint[]): AsyncGenerator<Deal[]> {
    return readInBatches(dealIds, (dealId) => this.#deal(dealId))
  }

  async challengeOf({ dealId }: Deal): Promise<Challenge | Refused> {
    const call = { ...this.#contract(), functionName: 'challengedLeaf' } as const
    const leaf = await refusedOr(this.#chain.client.readContract({ ...call, args: [dealId] }), call)
    return typeof leaf === 'bigint' ? { leafIndexes: [Number(leaf)] } : leaf
  }

  encode(call: ProverCall): EncodedCall {
    const [functionName, data] = encodeCall(call)
    return { to: this.address, data, functionName, abi }
  }

  skippedIn(): readonly Skipped[] {
    return []
  }

  async allowBond(): Promise<undefined> {
    return undefined
  }

  async #deal(dealId: bigint): Promise<Deal> {
    const call = { ...this.#contract(), functionName: 'deals', args: [dealId] } as const
    const deal = await this.#chain.client.readContract(call)
    return {
      contract: this.address,
      dealId,
      state: DEAL_STATES[deal.state] ?? 'none',
      client: deal.client.toLowerCase(),
      prover: deal.prover.toLowerCase(),
      root: Buffer.from(deal.commp.slice(2), 'hex'),
      paddedSizeBytes: deal.pieceSize,
      leafCount: deal.pieceSize / LEAF_BYTES,
      since: deal.since,
      durationSeconds: deal.duration,
      extraSeconds: deal.extraDuration,
      accountedUntil: deal.accountedUntil,
      missesInARow: deal.missesInARow,
      period: deal.period,
      challengeBlock: BigInt(deal.challengeBlock),
      remaining: deal.remaining,
      extraPayment: deal.extraPayment,
      earned: deal.earned,
      ...NO_BOND,
    }
  }

  #contract() {
    return { address: this.address, abi } as const
  }
}

/** Each function of this version is about one deal. */
function encodeCall(call: ProverCall): [functionName: string, data: `0x${string}`] {
  if (call.kind === 'prove') {
    const [{ deal, leaves }] = only(call.proofs)
    const [{ leaf, proof }] = only(leaves)
    const args = [deal.dealId, hex0xOf(leaf), proof.map(hex0xOf)] as const
    return ['prove', encodeFunctionData({ abi, functionName: 'prove', args })]
  }
  const [{ dealId }] = only(call.deals)
  const functionName = FUNCTIONS[call.kind]
  return [functionName, encodeFunctionData({ abi, functionName, args: [dealId] })]
}

const FUNCTIONS = { accept: 'acceptDeal', open: 'openChallenge', settle: 'settle' } as const

function only<Value>(values: readonly Value[]): [Value] {
  const [value] = values
  if (value === undefined || values.length > 1) throw new TypeError('this version serves one deal in a call')
  return [value]
}
