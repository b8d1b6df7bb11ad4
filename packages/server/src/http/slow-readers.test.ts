import { EventEmitter } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type RunningService, runService } from '../testing/running/running-service.ts'
import { SlowReaders } from './slow-readers.ts'

const KIB = 1024
const MIB = 1024 * KIB

describe('SlowReaders', () => {
  let slowReaders: SlowReaders
  let cut: Socket[]
  /** What the kernel holds, by descriptor. */
  let queues: Map<number, number>
  beforeEach(() => {
    vi.useFakeTimers()
    cut = []
    queues = new Map()
    slowReaders = new SlowReaders({
      now: Date.now,
      onCut: (socket) => void cut.push(socket),
      sendQueues: async (descriptors) => descriptors.map((fd) => queues.get(fd)),
    })
  })
  afterEach(() => {
    slowReaders.close()
    vi.useRealTimers()
  })

  /** A connection with so many bytes written to it, of which the kernel has taken some. */
  function connection(bytesWritten: number, takenBytes: number) {
    const handle = { fd: 7, bytesWritten, writeQueueSize: bytesWritten - takenBytes }
    const socket = Object.assign(new EventEmitter(), {
      _handle: handle as typeof handle | null,
      resetAndDestroy: vi.fn(() => {
        socket._handle = null
        socket.emit('close')
      }),
    })
    slowReaders.watch(socket as unknown as Socket)
    const take = (bytes: number): void => {
      handle.writeQueueSize -= bytes
    }
    return { socket, handle, take }
  }
  const pass = (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1000)

  it('cuts off a reader that takes nothing for a minute, once, by a reset', async () => {
    const { socket } = connection(8 * MIB, 3 * MIB)
    await pass(59)
    expect(cut).toEqual([])
    await pass(3)
    expect(cut).toEqual([socket])
    await pass(300)
    expect(cut).toHaveLength(1)
    expect(socket.resetAndDestroy).toHaveBeenCalledTimes(1)
  })

  it('counts no time in which nothing waits for the reader', async () => {
    const { handle } = connection(MIB, MIB)
    await pass(600)
    handle.bytesWritten += MIB
    handle.writeQueueSize = MIB
    await pass(55)
    expect(cut).toEqual([])
    handle.writeQueueSize = 0
    await pass(600)
    expect(cut).toEqual([])
  })

  it('lets a reader go on that pauses for less than a minute, again and again', async () => {
    const { take } = connection(100 * MIB, 0)
    for (let turn = 0; turn < 50; turn += 1) {
      await pass(55)
      take(MIB)
    }
    expect(cut).toEqual([])
  })

  it('cuts off a reader that takes a byte now and then', async () => {
    const { socket, take } = connection(8 * MIB, 3 * MIB)
    for (let turn = 0; turn < 26; turn += 1) {
      take(1)
      await pass(5)
    }
    expect(cut).toEqual([socket])
  })

  it('lets a reader go on that the kernel has much for, as long as its peer acknowledges enough of it', async () => {
    connection(8 * MIB, 3 * MIB)
    queues.set(7, 3 * MIB)
    for (let second = 0; second < 1200; second += 1) {
      await pass(1)
      queues.set(7, (queues.get(7) ?? 0) - 2 * KIB)
    }
    expect(cut).toEqual([])
  })

  it('cuts off a reader whose peer acknowledges next to nothing', async () => {
    const { socket } = connection(8 * MIB, 3 * MIB)
    queues.set(7, 3 * MIB)
    for (let second = 0; second < 125; second += 1) {
      await pass(1)
      queues.set(7, (queues.get(7) ?? 0) - 100)
    }
    expect(cut).toEqual([socket])
  })

  it('forgets a connection that is closed', async () => {
    const { socket } = connection(8 * MIB, 3 * MIB)
    socket.emit('close')
    await pass(300)
    expect(cut).toEqual([])
  })
})

describe('a service whose reader does not read', () => {
  let service: RunningService
  let cid: string
  beforeAll(async () => {
    service = await runService({ substitutes: { readerTimes: { idleMs: 2000 } } })
    const bytes = new Uint8Array(24 * MIB).fill(1)
    cid = ((await (await service.upload(bytes)).json()) as { cid: string }).cid
  })
  afterAll(() => service.remove())

  function ask(path: string, times = 1): Socket {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    socket.pause()
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(times))
    return socket
  }
  const cuts = () => service.logged().filter(({ msg, how }) => msg === 'held back' && how === 'closed')
  const answered = (path: string) => service.logged().filter((line) => line.msg === 'request' && line.path === path)

  it.each([
    ['a file', () => `/p/${cid}`, 1],
    ['a document', () => '/docs/js/scalar.js', 8],
  ])('cuts its answer, so that it is not taken for the whole: %s', async (_, pathOf, times) => {
    const path = pathOf()
    const socket = ask(path, times)
    await vi.waitFor(() => expect(answered(path).some(({ complete }) => complete === false)).toBe(true), 15_000)
    const closed = new Promise((resolve) => socket.once('close', resolve))
    let error: NodeJS.ErrnoException | undefined
    socket.on('error', (failure) => {
      error = failure
    })
    let receivedBytes = 0
    socket.on('data', (chunk) => {
      receivedBytes += chunk.length
    })
    socket.resume()
    await closed
    expect(error?.code).toBe('ECONNRESET')
    expect(receivedBytes).toBeLessThan(24 * MIB)
    expect(cuts().length).toBeGreaterThan(0)
  })

  it('lets one go on that reads now and then', async () => {
    const socket = ask(`/p/${cid}`)
    let receivedBytes = 0
    let stopAt = 0
    socket.on('data', (chunk) => {
      receivedBytes += chunk.length
      if (receivedBytes > stopAt) socket.pause()
    })
    for (; stopAt < 24 * MIB; stopAt += 5 * MIB) {
      await sleep(1000)
      socket.resume()
      await vi.waitFor(() => expect(receivedBytes).toBeGreaterThan(stopAt), 5000)
    }
    expect(receivedBytes).toBeGreaterThan(20 * MIB)
    socket.destroy()
  })

  it('ends within its time for answers under way, and not when the reader does', async () => {
    const other = await runService({ dataDir: service.dataDir, env: { LADE_DRAIN_SECONDS: '0' } })
    const socket = connect(Number(new URL(other.url).port), '127.0.0.1')
    socket.on('error', () => {})
    socket.pause()
    socket.write(`GET /p/${cid} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    await sleep(500)
    const startedAt = performance.now()
    await other.close()
    expect(performance.now() - startedAt).toBeLessThan(20_000)
    socket.destroy()
  })
})
