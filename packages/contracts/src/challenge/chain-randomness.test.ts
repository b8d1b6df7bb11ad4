import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import {
  createClient,
  type Hex,
  hexToBigInt,
  http,
  keccak256,
  numberToHex,
  publicActions,
  toHex,
  zeroAddress,
} from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ANVIL_KEY, startAnvil } from '../anvil.ts'
import { deployContracts } from '../contracts.ts'
import type { RpcBlockHeader } from './block-header.ts'
import { type BlockReader, readChainRandomness } from './chain-randomness.ts'

let anvil: Awaited<ReturnType<typeof startAnvil>>
let chain: BlockReader
let block: RpcBlockHeader
beforeAll(async () => {
  anvil = await startAnvil()
  const client = createClient({ transport: http(anvil.rpcUrl, { retryCount: 0 }) }).extend(publicActions)
  chain = client
  await client.request({ method: 'evm_mine' } as never)
  const answer = await chain.request({ method: 'eth_getBlockByNumber', params: ['0x1', false] })
  if (answer === null) throw new Error('there is no block')
  block = answer
})
afterAll(() => anvil.stop())

/** A chain whose blocks are what a real one has, with another `mixHash`; `hash` stays, so that only its newest block is as it was. */
function chainOf(mixHashOf: (number: bigint) => Hex, chainId = 8_453): BlockReader {
  return {
    getChainId: () => Promise.resolve(chainId),
    getBlockNumber: () => Promise.resolve(1_000n),
    request: ({ params: [number] }) => {
      const mixHash = mixHashOf(hexToBigInt(number))
      const timestamp =
        number === numberToHex(1_000n)
          ? block.timestamp
          : toHex(hexToBigInt(block.timestamp) - 2n * (1_000n - hexToBigInt(number)))
      return Promise.resolve({ ...block, mixHash, timestamp })
    },
  }
}

describe('readChainRandomness', () => {
  it('is that of headers on a chain whose blocks each have their own', async () => {
    const found = { kind: 'header', isRepeated: false, leastDelayBlocks: 1, delayBlocks: 4 }
    await expect(readChainRandomness(chain)).resolves.toEqual(found)
  })

  it('waits half an hour on a rollup that repeats that of its layer 1', async () => {
    const repeating = chainOf((number) => (number > 994n ? block.mixHash : keccak256(toHex(number / 6n))))
    const found = { kind: 'header', isRepeated: true, leastDelayBlocks: 900, delayBlocks: 900 }
    await expect(readChainRandomness(repeating)).resolves.toEqual(found)
  })

  it('is the beacon on Filecoin', async () => {
    for (const chainId of [314, 314_159]) {
      const found = await readChainRandomness(chainOf(() => '0x00', chainId))
      expect(found).toMatchObject({ kind: 'beacon', beacon: '0xfe00000000000000000000000000000000000006' })
    }
  })

  it.each([
    ['0 (Polygon, BNB Chain)', numberToHex(0n, { size: 32 })],
    ['1 (Arbitrum)', numberToHex(1n, { size: 32 })],
    ['a small constant (zkSync)', numberToHex(2_500_000_000_000_000n, { size: 32 })],
    ['the greatest small number', numberToHex(2n ** 128n - 1n, { size: 32 })],
  ])('is none where mixHash is %s', async (_, mixHash) => {
    const reason = `The blocks of chain 8453 have no randomness: mixHash is ${mixHash}.`
    await expect(readChainRandomness(chainOf(() => mixHash))).resolves.toEqual({ kind: 'none', reason })
  })

  it('is none where mixHash never changes, where headers have another form, and before there is a block', async () => {
    const constant = await readChainRandomness(chainOf(() => block.mixHash))
    expect(constant).toEqual({
      kind: 'none',
      reason: `The blocks of chain 8453 have no randomness: mixHash is always ${block.mixHash}.`,
    })
    const otherForm = await readChainRandomness(chainOf((number) => keccak256(toHex(number))))
    expect(otherForm).toMatchObject({ kind: 'none', reason: expect.stringContaining('headers of another form') })
    const young = { ...chainOf(() => block.mixHash), getBlockNumber: () => Promise.resolve(0n) }
    await expect(readChainRandomness(young)).resolves.toMatchObject({
      reason: expect.stringContaining('no block after'),
    })
  })
})

/** A node whose chain has blocks with this `mixHash`, and that answers nothing else. */
async function startNode(mixHashOf: (number: bigint) => Hex) {
  const node = createServer(async (request, response) => {
    const { id, method, params } = JSON.parse(await text(request)) as {
      id: number
      method: string
      params: [Hex, false]
    }
    const reader = chainOf(mixHashOf, 4_242)
    const results: Record<string, () => unknown> = {
      eth_chainId: () => numberToHex(4_242),
      eth_blockNumber: () => numberToHex(1_000n),
      eth_getBlockByNumber: () => reader.request({ method: 'eth_getBlockByNumber', params }),
    }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: await results[method]?.() }))
  }).listen(0, '127.0.0.1')
  await once(node, 'listening')
  const address = node.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return { rpcUrl: `http://127.0.0.1:${port}`, stop: () => node.close() }
}

describe('deployContracts', () => {
  it('error: a chain without randomness, and too short a delay on one that repeats it', async () => {
    const options = { privateKey: ANVIL_KEY, usdc: zeroAddress } as const
    const arbitrum = await startNode(() => numberToHex(1n, { size: 32 }))
    await expect(deployContracts({ ...options, rpcUrl: arbitrum.rpcUrl })).rejects.toThrow(
      'The blocks of chain 4242 have no randomness: mixHash is 0x0000',
    )
    arbitrum.stop()
    const rollup = await startNode((number) => (number > 994n ? block.mixHash : keccak256(toHex(number / 6n))))
    await expect(deployContracts({ ...options, rpcUrl: rollup.rpcUrl, seedDelayBlocks: 899 })).rejects.toThrow(
      'This chain repeats the randomness of its layer 1. The seed delay must be at least 900 blocks.',
    )
    rollup.stop()
  })
})
