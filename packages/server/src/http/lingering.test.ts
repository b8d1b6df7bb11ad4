import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningService, runService } from '../testing/running/running-service.ts'
import { Lingering } from './lingering.ts'
import { requestOf } from './testing-request.ts'

const MIB = 1024 * 1024

describe('a body that is refused early', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await runService({ env: { LADE_SPONSORED_FILE_MB: '1', LADE_SPONSORED_DAILY_MB: '1' } })
  })
  afterAll(() => service.remove())

  const begin = async (sizeBytes: number, target = `/api/upload?cid=${'a'.repeat(64)}`): Promise<Socket> => {
    const { hostname, port } = new URL(service.url)
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    const head = [`POST ${target} HTTP/1.1`, `Host: ${hostname}:${port}`, 'Content-Type: a/b']
    socket.write(`${[...head, `Content-Length: ${sizeBytes}`].join('\r\n')}\r\n\r\n`)
    return socket
  }

  it('is read to its end, so that a client that sends before it reads finds the answer', async () => {
    const socket = await begin(100 * MIB)
    const errors: Error[] = []
    socket.on('error', (error) => errors.push(error))
    socket.pause()
    const closed = once(socket, 'close')
    const chunk = Buffer.alloc(MIB)
    for (let sent = 0; sent < 100 && errors.length === 0; sent += 1) {
      if (!socket.write(chunk)) await Promise.race([once(socket, 'drain'), closed])
      // Slower than a client on this machine, and longer than what was once waited for.
      if (sent % 10 === 0) await sleep(200)
    }
    expect(errors).toEqual([])
    let received = ''
    socket.on('data', (bytes: Buffer) => {
      received += bytes.toString()
    })
    socket.resume()
    await closed
    expect(received).toMatch(/^HTTP\/1\.1 413 /)
    expect(received).toContain('"error":"too_large"')
    expect(received).toMatch(/\r\nconnection: close\r\n/i)
  })

  it('of a short length leaves the connection open for the next request', async () => {
    const body = 'x'.repeat(300 * 1024)
    const { hostname, port } = new URL(service.url)
    const socket = connect(Number(port), hostname)
    let received = ''
    socket.on('data', (bytes: Buffer) => {
      received += bytes.toString()
    })
    const head = `Host: ${hostname}:${port}\r\n`
    socket.write(`POST /nowhere HTTP/1.1\r\n${head}Content-Length: ${body.length}\r\n\r\n${body.slice(0, 1000)}`)
    await expect.poll(() => received).toMatch(/^HTTP\/1\.1 404 /)
    expect(received).not.toMatch(/\r\nconnection: close\r\n/i)
    socket.write(`${body.slice(1000)}GET /healthz HTTP/1.1\r\n${head}Connection: close\r\n\r\n`)
    await once(socket, 'close')
    expect(received.match(/^HTTP\/1\.1 \d+|\}HTTP\/1\.1 \d+/gm)).toEqual(['HTTP/1.1 404', '}HTTP/1.1 200'])
  })

  it('of a short length that does not come ends with the connection', async () => {
    const startedAt = Date.now()
    const socket = await begin(300 * 1024, '/nowhere')
    let received = ''
    socket.on('data', (bytes: Buffer) => {
      received += bytes.toString()
    })
    await once(socket, 'close')
    expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404'])
    expect(Date.now() - startedAt).toBeLessThan(4000)
  })

  it('is not waited for when nothing of it comes', async () => {
    const startedAt = Date.now()
    const socket = await begin(100 * MIB)
    socket.resume()
    await once(socket, 'close')
    expect(Date.now() - startedAt).toBeLessThan(4000)
  })
})

describe('Lingering', () => {
  it('leaves a sender who is over its budget after a few MiB, and charges what it read', async () => {
    const spent: number[] = []
    const heldBack: unknown[] = []
    const lingering = new Lingering({
      budget: {
        isOver: () => true,
        spend: ({ processorMs }) => void spent.push(processorMs),
        heldBack: (event) => void heldBack.push(event),
      },
      principalOf: () => 'ip:192.0.2.7',
      isDraining: () => false,
    })
    const { source, push } = bodySource()
    const done = new Promise<void>((resolve) => void lingering.discard(source, resolve))
    for (let sent = 0; sent < 5; sent += 1) push(new Uint8Array(MIB))
    await done
    expect(spent.reduce((sum, ms) => sum + ms, 0)).toBeCloseTo(3.75)
    expect(heldBack).toEqual([{ principal: 'ip:192.0.2.7', work: 'discard', how: 'closed' }])
  })

  it('waits for nobody while the process is about to end', async () => {
    const lingering = new Lingering({
      budget: { isOver: () => false, spend: () => {}, heldBack: () => {} },
      principalOf: () => 'ip:192.0.2.7',
      isDraining: () => true,
    })
    const { source, push } = bodySource()
    const done = new Promise<void>((resolve) => void lingering.discard(source, resolve))
    push(new Uint8Array(1))
    await done
  })
})

function bodySource() {
  const source = requestOf({ method: 'POST', lines: ['Content-Length', String(100 * MIB)] })
  return { source, push: (chunk: Uint8Array) => void source.emit('data', chunk) }
}
