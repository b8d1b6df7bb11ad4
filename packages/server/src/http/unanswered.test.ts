import { randomBytes } from 'node:crypto'
import { readdirSync, readlinkSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rawRequest } from '../testing/running/raw-request.ts'
import { type RunningService, runService } from '../testing/running/running-service.ts'
import { MAX_UNANSWERED } from './unanswered.ts'

const MiB = 1024 * 1024

/** What a descriptor of this process leads to. */
function pathOf(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`)
  } catch {
    // It was closed meanwhile.
    return ''
  }
}

describe('requests that are sent before earlier ones are answered', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await runService({ env: { LADE_LOG_LEVEL: 'debug' } })
  })
  afterAll(() => service.remove())

  const requests = (count: number, path: (index: number) => string = () => '/healthz'): string =>
    Array.from({ length: count }, (_, index) => `GET ${path(index)} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join('')
  const handled = (path: string) => service.logged().filter((line) => line.path === path).length
  const statuses = (received: string) => [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))

  it('are answered in their order', async () => {
    const last = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'
    const received = await rawRequest(service.url, requests(MAX_UNANSWERED - 2, (index) => `/order/${index}`) + last)
    expect(statuses(received)).toEqual([...Array.from({ length: MAX_UNANSWERED - 2 }, () => 404), 200])
  })

  it('are answered for as long as the client reads, however many they are', async () => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk
    })
    for (let turn = 1; turn <= 5; turn += 1) {
      socket.write(requests(MAX_UNANSWERED - 1))
      await expect.poll(() => statuses(received).length).toBe(turn * (MAX_UNANSWERED - 1))
    }
    socket.destroy()
  })

  it(`end the connection with the answer to number ${MAX_UNANSWERED}`, async () => {
    const received = await rawRequest(
      service.url,
      requests(70, () => '/many'),
    )
    expect(statuses(received)).toHaveLength(MAX_UNANSWERED)
    expect(received.match(/connection: close/gi)).toHaveLength(1)
    expect(received.slice(received.lastIndexOf('HTTP/1.1 '))).toMatch(/connection: close/i)
    expect(handled('/many')).toBe(MAX_UNANSWERED)
  })

  it('end the connection at once when they are a flood', async () => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    socket.on('error', () => {})
    socket.pause()
    // One that is answered first, since those that wait for their round when the connection is cut off are not begun.
    socket.write(requests(1, () => '/flood'))
    await expect.poll(() => handled('/flood')).toBe(1)
    socket.write(requests(1700, () => '/flood'))
    await expect.poll(() => socket.resume().closed).toBe(true)
    expect(handled('/flood')).toBeLessThanOrEqual(1 + MAX_UNANSWERED)
  })

  it('leave no blob open when they are a flood', async () => {
    const { cid } = (await (await service.upload(randomBytes(20 * MiB))).json()) as { cid: string }
    const open = () => readdirSync('/proc/self/fd').filter((fd) => pathOf(fd).endsWith(`/${cid}`)).length
    // Those who stage it have it open for a while.
    await expect.poll(open).toBe(0)
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    socket.on('error', () => {})
    socket.pause()
    socket.write(requests(300, () => `/p/${cid}`))
    await expect.poll(() => handled(`/p/${cid}`)).toBeGreaterThan(0)
    await expect.poll(open).toBe(0)
    socket.destroy()
  })

  it('open a blob when it is their turn, and not before', async () => {
    const { cid } = (await (await service.upload(randomBytes(20 * MiB))).json()) as { cid: string }
    const open = () => readdirSync('/proc/self/fd').filter((fd) => pathOf(fd).endsWith(`/${cid}`)).length
    await expect.poll(open).toBe(0)
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    socket.pause()
    const count = MAX_UNANSWERED - 1
    socket.write(requests(count, () => `/p/${cid}`))
    await expect.poll(open).toBe(1)
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(open()).toBe(1)
    let receivedBytes = 0
    socket.on('data', (chunk) => {
      receivedBytes += chunk.length
    })
    socket.resume()
    await expect.poll(() => receivedBytes, { timeout: 20_000 }).toBeGreaterThan(count * 20 * MiB)
    await expect.poll(open).toBe(0)
    socket.destroy()
  })

  it('are answered as others when they ask for an upgrade', async () => {
    const head = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n'
    expect(statuses(await rawRequest(service.url, head))).toEqual([200])
  })

  it('cost little memory when nobody reads the answers', async () => {
    const before = process.memoryUsage()
    const sockets: Socket[] = []
    for (let client = 0; client < 14; client += 1) {
      const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
      socket.on('error', () => {})
      socket.pause()
      socket.write(requests(1700, () => '/openapi.json'))
      sockets.push(socket)
    }
    await expect.poll(() => handled('/openapi.json')).toBeGreaterThan(0)
    expect((await service.fetch('/healthz')).status).toBe(200)
    const { heapUsed, external } = process.memoryUsage()
    expect(heapUsed + external - before.heapUsed - before.external).toBeLessThan(128 * MiB)
    for (const socket of sockets) socket.destroy()
    await expect.poll(() => handled('/openapi.json')).toBeLessThanOrEqual(14 * MAX_UNANSWERED)
  })
})
