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
  /** One request on a connection of its own. */
  const ask = (timeoutMs = 5000): Promise<Buffer> =>
    new Promise((resolve, reject) => {
      const signal = AbortSignal.timeout(timeoutMs)
      const request = http.get({ host: '127.0.0.1', port: relay.port, agent: false, signal }, (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.on('error', reject)
        answer.on('end', () => resolve(Buffer.concat(chunks)))
      })
      request.on('error', reject)
    })

  test('passes bytes unchanged', async () => {
    expect((await ask()).equals(body)).toBe(true)
  })

  test('cuts and refuses while it is closed, and passes again afterwards', async () => {
    await ask()
    relay.close()
    await expect(ask()).rejects.toMatchObject({ code: 'ECONNRESET' })
    expect(relay.open).toBe(0)
    relay.reopen()
    expect((await ask()).equals(body)).toBe(true)
  })

  test('says nothing while it swallows, and passes again afterwards', async () => {
    relay.swallow()
    await expect(ask(300)).rejects.toMatchObject({ code: 'ABORT_ERR' })
    relay.reopen()
    expect((await ask()).equals(body)).toBe(true)
  })
})
