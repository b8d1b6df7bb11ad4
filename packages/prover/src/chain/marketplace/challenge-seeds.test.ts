import { startAnvil } from '@lade/contracts/anvil'
import type { RpcBlockHeader } from '@lade/contracts/challenge'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestChain } from '../../testing/test-chain.ts'
import { openChainClient } from '../chain-client.ts'
import { ChallengeSeeds } from './challenge-seeds.ts'

const HEAD = { hash: `0x${'01'.repeat(32)}` } as const
const NEXT_HEAD = { hash: `0x${'02'.repeat(32)}` } as const

describe('ChallengeSeeds', () => {
  let anvil: Awaited<ReturnType<typeof startAnvil>>
  let block: RpcBlockHeader
  beforeAll(async () => {
    anvil = await startAnvil()
    const chain = openTestChain(anvil.rpcUrl)
    await chain.mine({ blocks: 3 })
    block = await openChainClient(anvil.rpcUrl).request({ method: 'eth_getBlockByNumber', params: ['0x2', false] })
  })
  afterAll(() => anvil.stop())

  const seedsOf = (answer: () => RpcBlockHeader | null) => {
    const asked: unknown[] = []
    const request = async (call: unknown) => {
      asked.push(call)
      return answer()
    }
    return {
      asked,
      seeds: new ChallengeSeeds({ request } as unknown as ConstructorParameters<typeof ChallengeSeeds>[0]),
    }
  }

  test('are read from the header, once for each newest block', async () => {
    const { asked, seeds } = seedsOf(() => block)
    const seed = await seeds.seedOf(2n, HEAD)
    expect(seed).toEqual({ seed: block.mixHash, header: expect.stringMatching(/^0xf9/) })
    expect(await seeds.seedOf(2n, HEAD)).toBe(seed)
    expect(asked).toEqual([{ method: 'eth_getBlockByNumber', params: ['0x2', false] }])
    await seeds.seedOf(2n, NEXT_HEAD)
    expect(asked).toHaveLength(2)
  })

  test('are not taken from a header that does not have the hash of its block', async () => {
    const { seeds } = seedsOf(() => ({ ...block, mixHash: `0x${'77'.repeat(32)}` }))
    const refused = "the node's header of block 2 does not have its hash"
    expect(await seeds.seedOf(2n, HEAD)).toEqual({ refused })
  })

  test('are not there before their block', async () => {
    expect(await seedsOf(() => null).seeds.seedOf(2n, HEAD)).toEqual({ refused: 'ChallengeNotDrawn' })
  })
})
