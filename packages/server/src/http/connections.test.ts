import { EventEmitter, once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningService, runService } from '../testing/running/running-service.ts'
import { affordableConnections, Connections } from './connections.ts'

describe('Connections', () => {
  /** Connections of a service that takes 100, with who was refused. */
  function taken({ isShared = () => false }: { isShared?: (address: string) => boolean } = {}) {
    const refused: string[] = []
    const connections = new Connections({
      maxCount: 100,
      isShared,
      onRefused: (principal) => void refused.push(principal),
    })
    const open = (remoteAddress: string | undefined) => {
      const socket = Object.assign(new EventEmitter(), {
        remoteAddress,
        destroyed: false,
        destroy,
        resetAndDestroy: destroy,
      })
      function destroy(): void {
        socket.destroyed = true
        socket.emit('close')
      }
      return { socket, isAdmitted: connections.admit(socket as unknown as Socket) }
    }
    return { connections, open, refused }
  }

  it('lets one address have a quarter of them, and a /64 of IPv6 counts as one', () => {
    const { open, refused } = taken()
    for (const [one, other] of [
      ['192.0.2.1', '192.0.2.2'],
      ['2001:db8:1:2::1', '2001:db8:1:3::1'],
    ] as const) {
      const own = Array.from({ length: 25 }, () => open(one))
      expect(own.every(({ isAdmitted }) => isAdmitted)).toBe(true)
      const last = open(one.replace(/1$/, one.includes(':') ? '7' : '1'))
      expect([last.isAdmitted, last.socket.destroyed]).toEqual([false, true])
      expect(open(other).isAdmitted).toBe(true)
      own[0]?.socket.destroy()
      expect(open(one).isAdmitted).toBe(true)
    }
    expect(refused).toEqual(['ip:192.0.2.1', 'ip:2001:db8:1:2::/64'])
  })

  it('lets an address that many callers come through have all of them', () => {
    const { open, refused } = taken({ isShared: (address) => address === '127.0.0.1' })
    for (let index = 0; index < 80; index += 1) expect(open('127.0.0.1').isAdmitted).toBe(true)
    expect(refused).toEqual([])
  })

  it('closes those near the limit that have been idle for longest', () => {
    const { connections, open } = taken({ isShared: () => true })
    const sockets = Array.from({ length: 90 }, (_, index) => open(`192.0.2.${index}`).socket)
    const closed = () => sockets.flatMap(({ destroyed }, index) => (destroyed ? [index] : []))
    const asSocket = (index: number) => sockets[index] as unknown as Socket
    // The first is busy, the second has been idle for less time than the third.
    connections.noteBusy(asSocket(0))
    connections.noteBusy(asSocket(1))
    connections.noteIdle(asSocket(1))
    expect(closed()).toEqual([])
    open('192.0.2.200')
    open('192.0.2.201')
    expect(closed()).toEqual([2, 3])
    connections.noteIdle(asSocket(2))
    open('192.0.2.202')
    expect(closed()).toEqual([2, 3, 4])
  })

  it('does not take one that is gone before it is looked at', () => {
    const { open, refused } = taken()
    expect(open(undefined).isAdmitted).toBe(false)
    expect(refused).toEqual([])
  })
})

describe('affordableConnections', () => {
  it.each<[number, number | undefined, number]>([
    [4096, 65_536, 4096],
    [4096, 1024, 448],
    [4096, 128, 16],
    [100, 1024, 100],
    [4096, undefined, 4096],
  ])('of %i, with %s files: %i', (wanted, openFiles, expected) => {
    expect(affordableConnections(wanted, openFiles)).toBe(expected)
  })
})

describe('a service that takes 16 connections', () => {
  let service: RunningService
  beforeAll(async () => {
    service = await runService({ env: { LADE_MAX_CONNECTIONS: '16', LADE_SPONSORED_CONCURRENCY: '16' } })
  })
  afterAll(() => service.remove())

  async function open(): Promise<Socket> {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    await once(socket, 'connect')
    socket.on('error', () => {})
    return socket
  }
  const health = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'

  it('answers whoever comes, while the others are idle', async () => {
    const sockets: Socket[] = []
    for (let index = 0; index < 40; index += 1) {
      const socket = await open()
      sockets.push(socket)
      socket.write(health)
      const [answer] = await once(socket, 'data')
      expect(String(answer)).toContain('200 OK')
    }
    expect(sockets.filter(({ destroyed }) => !destroyed).length).toBeLessThanOrEqual(16)
    for (const socket of sockets) socket.destroy()
  })

  it('error: closes what comes when all are busy, and counts it', async () => {
    const upload = `POST /api/upload?cid=${'0'.repeat(64)} HTTP/1.1\r\nHost: localhost\r\nContent-Type: a/b\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n`
    const busy: Socket[] = []
    for (let index = 0; index < 16; index += 1) {
      const socket = await open()
      busy.push(socket)
      socket.write(upload.replace('=0', `=${index.toString(16)}`))
      // It is let in, and sends nothing.
      expect(String((await once(socket, 'data'))[0])).toContain('100 Continue')
    }
    const refused = await open()
    refused.resume()
    if (!refused.destroyed) await new Promise((resolve) => refused.once('close', resolve))
    const isCounted = () => service.logged().some(({ msg, how }) => msg === 'held back' && how === 'refused')
    await expect.poll(isCounted).toBe(true)
    for (const socket of busy) socket.destroy()
  })
})
