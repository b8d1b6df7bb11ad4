import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { createClient, http, publicActions, zeroAddress } from 'viem'
import { describe, expect, it } from 'vitest'
import { startAnvil } from './anvil.ts'

function clientOf(rpcUrl: string) {
  return createClient({ transport: http(rpcUrl, { retryCount: 0 }) }).extend(publicActions)
}

describe('startAnvil', () => {
  it('answers as soon as it resolves, and is gone after stop', async () => {
    const anvil = await startAnvil({ chainId: 4242, noMining: true })
    await expect(clientOf(anvil.rpcUrl).getChainId()).resolves.toBe(4242)
    await Promise.all([anvil.stop(), anvil.stop()])
    await anvil.stop()
    expect(() => process.kill(anvil.pid, 0)).toThrow('ESRCH')
    await expect(clientOf(anvil.rpcUrl).getChainId()).rejects.toThrow()
  })

  it('leaves no state behind', async () => {
    const anvil = await startAnvil()
    const command = (await readFile(`/proc/${anvil.pid}/cmdline`, 'utf8')).split('\0')
    const states = command[command.indexOf('--cache-path') + 1] ?? ''
    expect(existsSync(states)).toBe(true)
    await anvil.stop()
    expect(existsSync(states)).toBe(false)
  })

  it('keeps the states of as many blocks as it is told to', async () => {
    const anvil = await startAnvil({ keepsHistory: 30 })
    const client = clientOf(anvil.rpcUrl)
    await client.request({ method: 'anvil_mine', params: ['0x64'] } as never)
    const balanceAt = (blockNumber: bigint) => client.getBalance({ address: zeroAddress, blockNumber })
    await expect(balanceAt(80n)).resolves.toBe(0n)
    await expect(balanceAt(20n)).rejects.toThrow()
    await anvil.stop()
  })

  it('makes blocks by itself when it is told to', async () => {
    const anvil = await startAnvil({ blockTimeSeconds: 1 })
    const client = clientOf(anvil.rpcUrl)
    await expect.poll(() => client.getBlockNumber({ cacheTime: 0 }), { timeout: 10_000 }).toBeGreaterThan(0n)
    await anvil.stop()
  })

  it('error: a port that is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const address = other.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    await expect(startAnvil({ port })).rejects.toThrow(/anvil ended at once: .*in use/s)
    other.close()
  })
})
