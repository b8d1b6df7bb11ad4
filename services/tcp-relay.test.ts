import { randomBytes } from 'node:crypto'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTcpRelay, type TcpRelay } from './tcp-relay.ts'

describe('startTcpRelay', () => {
  const body = randomBytes(3_000_000)
  let service: http.Server
  let relay: TcpRelay
  beforeAll(async () => {
    service = http.createServer((_, response) => response.end(body))
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
    relay = await startTcpRelay((service.address() as AddressInfo).port)
  })
  afterAll(async () => {
    await relay.discard()
    service.closeAllConnections()
    service.close()
  })
  const ask = async (timeoutMs = 5000): Promise<Buffer> => {
    const answer = await fetch(`http://127.0.0.1:${relay.port}/`, { signal: AbortSignal.timeout(timeoutMs) })
    return Buffer.from(await answer.arrayBuffer())
  }

  test('passes bytes unchanged', async () => {
    expect((await ask()).equals(body)).toBe(true)
  })

  test('cuts and refuses while it is closed, and passes again afterwards', async () => {
    await ask()
    relay.close()
    await expect(ask()).rejects.toThrow('fetch failed')
    expect(relay.open).toBe(0)
    relay.reopen()
    expect((await ask()).equals(body)).toBe(true)
  })

  test('says nothing while it swallows, and passes again afterwards', async () => {
    relay.swallow()
    await expect(ask(300)).rejects.toMatchObject({ name: 'TimeoutError' })
    relay.reopen()
    expect((await ask()).equals(body)).toBe(true)
  })
})
