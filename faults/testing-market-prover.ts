import { marketplaceAbi, marketplaceV1Abi, testUsdcAbi } from '@lade/contracts'
import { challengedLeaves, encodeBlockHeader, type RpcBlockHeader } from '@lade/contracts/challenge'
import { makeLeafProof } from '@lade/core/piece'
import { type Address, bytesToHex, createClient, type Hex, http, publicActions, walletActions } from 'viem'

/** Enough for any call here; an estimate would be of the block before the one that it is in. */
const GAS = 2_000_000n

/** A prover of the deals of one marketplace, with an account that anvil signs for. Blocks come when it mines them. */
export interface MarketProver {
  accept(dealIds: readonly bigint[]): Promise<void>
  /** Proves the current period of these deals, as far as they are active. */
  prove(dealIds: readonly bigint[]): Promise<void>
  /** The state of a deal by the contract's own number, and when its term ends. */
  stateOf(dealId: bigint): Promise<number>
}

export interface MarketProverOptions {
  readonly rpcUrl: string
  readonly usdc: Address
  readonly marketplace: Address
  readonly version: 1 | 2
  readonly prover: Address
  /** The bytes of the piece of a deal. */
  readonly bytesOf: (dealId: bigint) => Uint8Array
}

const ACTIVE = 2

export async function openMarketProver(options: MarketProverOptions): Promise<MarketProver> {
  const { rpcUrl, usdc, marketplace, version, prover, bytesOf } = options
  const client = createClient({ account: prover, transport: http(rpcUrl, { retryCount: 0 }) })
    .extend(publicActions)
    .extend(walletActions)
  const ask = (method: string, params: readonly unknown[]) =>
    client.request<{ Method: string; Parameters: readonly unknown[]; ReturnType: unknown }>({ method, params })
  const mine = () => ask('anvil_mine', [1])
  const v1 = { address: marketplace, abi: marketplaceV1Abi } as const
  const v2 = { address: marketplace, abi: marketplaceAbi } as const
  const sending = { account: prover, chain: null, gas: GAS } as const
  await ask('anvil_impersonateAccount', [prover])
  await ask('anvil_setBalance', [prover, '0xde0b6b3a7640000'])
  const token = { address: usdc, abi: testUsdcAbi, ...sending } as const
  await client.writeContract({ ...token, functionName: 'mint', args: [prover, 10n ** 9n] })
  await client.writeContract({ ...token, functionName: 'approve', args: [marketplace, 2n ** 255n] })
  await mine()

  const dealOf = (dealId: bigint) =>
    version === 1
      ? client.readContract({ ...v1, functionName: 'deals', args: [dealId] })
      : client.readContract({ ...v2, functionName: 'deals', args: [dealId] })
  const nodesOf = async (dealId: bigint, leafIndex: bigint): Promise<{ leaf: Hex; siblings: Hex[] }> => {
    const bytes = bytesOf(dealId)
    const { leaf, proof } = await makeLeafProof({
      rawSizeBytes: bytes.length,
      leafIndex: Number(leafIndex),
      readRaw: (offset, length) => bytes.subarray(offset, offset + length),
    })
    return { leaf: bytesToHex(leaf), siblings: proof.map((node) => bytesToHex(node)) }
  }
  const proveV1 = async (dealId: bigint): Promise<void> => {
    const leafIndex = await client.readContract({ ...v1, functionName: 'challengedLeaf', args: [dealId] })
    const { leaf, siblings } = await nodesOf(dealId, leafIndex)
    await client.writeContract({ ...v1, functionName: 'prove', args: [dealId, leaf, siblings], ...sending })
  }
  const proveV2 = async (dealId: bigint): Promise<void> => {
    const { seedBlock, period, leafCount } = await client.readContract({ ...v2, functionName: 'deals', args: [dealId] })
    const block = (await ask('eth_getBlockByNumber', [`0x${seedBlock.toString(16)}`, false])) as RpcBlockHeader
    const header = encodeBlockHeader(block)
    if (header === undefined) throw new Error('the header of the block has another hash')
    const leaves = challengedLeaves({ seed: block.mixHash, dealId, period, leafCount })
    const paths = await Promise.all(leaves.map((leafIndex) => nodesOf(dealId, leafIndex)))
    const nodes = paths.flatMap(({ leaf, siblings }) => [leaf, ...siblings])
    await client.writeContract({ ...v2, functionName: 'prove', args: [dealId, header, nodes], ...sending })
  }

  return {
    async accept(dealIds) {
      for (const dealId of dealIds) {
        if (version === 1) await client.writeContract({ ...v1, functionName: 'acceptDeal', args: [dealId], ...sending })
        else {
          const termsHash = await client.readContract({ ...v2, functionName: 'termsHashOf', args: [dealId] })
          await client.writeContract({ ...v2, functionName: 'acceptDeal', args: [dealId, termsHash], ...sending })
        }
      }
      await mine()
    },
    async prove(dealIds) {
      const active: bigint[] = []
      for (const dealId of dealIds) if ((await dealOf(dealId)).state === ACTIVE) active.push(dealId)
      for (const dealId of active) {
        const call = { functionName: 'openChallenge', args: [dealId] } as const
        await (version === 1
          ? client.writeContract({ ...v1, ...call, ...sending })
          : client.writeContract({ ...v2, ...call, ...sending }))
      }
      // The leaves are drawn by the block of the opening, or by the one after it, whose hash the next can read.
      for (let block = 0; block < 3; block += 1) await mine()
      for (const dealId of active) {
        const isOpen =
          version === 1
            ? (await client.readContract({ ...v1, functionName: 'deals', args: [dealId] })).challengeBlock > 0
            : (await client.readContract({ ...v2, functionName: 'deals', args: [dealId] })).seedBlock > 0
        // Its term is over.
        if (!isOpen) continue
        await (version === 1 ? proveV1(dealId) : proveV2(dealId))
      }
      await mine()
    },
    stateOf: async (dealId) => (await dealOf(dealId)).state,
  }
}
