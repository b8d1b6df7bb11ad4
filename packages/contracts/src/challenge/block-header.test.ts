import { createClient, type Hex, http, numberToHex, publicActions } from 'viem'
import { describe, expect, it } from 'vitest'
import { startAnvil } from '../anvil.ts'
import { encodeBlockHeader, type RpcBlockHeader } from './block-header.ts'

async function blocksOf(hardfork: string): Promise<RpcBlockHeader[]> {
  const anvil = await startAnvil({ hardfork })
  const client = createClient({ transport: http(anvil.rpcUrl, { retryCount: 0 }) }).extend(publicActions)
  const blocks: RpcBlockHeader[] = []
  for (const number of [0n, 1n, 2n]) {
    if (number > 0n) await client.request({ method: 'evm_mine' } as never)
    const params = [numberToHex(number), false] as [Hex, false]
    const block = await client.request({ method: 'eth_getBlockByNumber', params })
    if (block !== null) blocks.push(block)
  }
  await anvil.stop()
  return blocks
}

describe('encodeBlockHeader', () => {
  // 16 fields with the base fee, 17 with withdrawals, 20 with blobs and the beacon's root, 21 with requests.
  it.each(['london', 'shanghai', 'cancun', 'prague'])('encodes what %s hashes', async (hardfork) => {
    const blocks = await blocksOf(hardfork)
    expect(blocks).toHaveLength(3)
    for (const block of blocks) {
      expect(encodeBlockHeader(block)).toMatch(/^0xf9/)
      expect(
        encodeBlockHeader({ ...block, hash: (block.hash ?? '0x').toUpperCase().replace('X', 'x') as Hex }),
      ).toMatch(/^0xf9/)
    }
  })

  it('is undefined for a block whose fields do not have its hash, and for one without hash', async () => {
    const [, block] = await blocksOf('prague')
    if (block === undefined) throw new Error('there is no block')
    expect(encodeBlockHeader({ ...block, gasUsed: '0x1' })).toBeUndefined()
    expect(encodeBlockHeader({ ...block, requestsHash: undefined })).toBeUndefined()
    expect(encodeBlockHeader({ ...block, mixHash: block.stateRoot })).toBeUndefined()
    for (const field of ['hash', 'number', 'nonce', 'logsBloom'] as const) {
      expect(encodeBlockHeader({ ...block, [field]: null })).toBeUndefined()
    }
  })
})
