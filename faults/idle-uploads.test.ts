import { statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { expectUnharmed, measureAttack } from './attack.ts'
import { tokenCaller } from './caller.ts'
import { BOUNDLESS_QUOTAS } from './load.ts'
import { PLAN } from './plan.ts'
import { startServer } from './server-process.ts'

const MIB = 1024 * 1024
const ROOM_BYTES = 20 * 1024 * MIB
const CONNECTIONS = PLAN.isFull ? 300 : 40
/** As many as one user may have in flight. */
const PER_USER = 32

/** Connections that each announce a body of some GiB, or of what those leave, send a little of it, then 100 bytes a second, and begin again when they are ended. */
const ATTACK = `
  const { connect } = require('node:net')
  const { randomBytes } = require('node:crypto')
  const [port, sizeBytes, connections, ...tokens] = process.argv.slice(1)
  const attack = (index) => {
    const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress: '127.0.1.' + (1 + (index % 250)) })
    socket.write('POST /api/upload?cid=' + randomBytes(32).toString('hex') + ' HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\n' +
      'Authorization: ' + tokens[Math.floor(index / ${PER_USER})] + '\\r\\n' +
      'Content-Type: application/octet-stream\\r\\nContent-Length: ' + Math.floor(sizeBytes / 2 ** (index % 2 === 0 ? 0 : (index >> 1) % 12)) + '\\r\\n\\r\\n')
    socket.write(Buffer.alloc(70000))
    const dripping = setInterval(() => socket.write(Buffer.alloc(100)), 1000)
    socket.on('error', () => {})
    socket.resume()
    socket.on('close', () => {
      clearInterval(dripping)
      setTimeout(attack, 50, index)
    })
  }
  for (let index = 0; index < connections; index += 1) attack(index)`

test(`uploads that announce many times the room of the disk and hardly come keep nobody out (${CONNECTIONS} connections)`, async () => {
  const { bavail, bsize } = statfsSync(tmpdir())
  const freeBytes = bavail * bsize
  const roomBytes = Math.min(ROOM_BYTES, Math.floor(freeBytes / 2))
  const server = await startServer({
    env: { ...BOUNDLESS_QUOTAS, LADE_MIN_FREE_MB: String(Math.floor((freeBytes - roomBytes) / MIB)) },
  })
  const users = Array.from({ length: Math.ceil(CONNECTIONS / PER_USER) }, () => tokenCaller(server.url))
  const tokens = (await Promise.all(users)).map(({ headers }) => headers.Authorization ?? '')
  expect(new Set(tokens).size).toBe(users.length)
  // Other callers' uploads have to be answered 200 all the while.
  const seen = await measureAttack({
    server,
    script: ATTACK,
    args: [String(Math.floor(roomBytes / 6)), String(CONNECTIONS), ...tokens],
    forMs: PLAN.isFull ? 20_000 : 2500,
  })
  await expectUnharmed(server, 'idle uploads', seen)
})
