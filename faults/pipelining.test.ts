import { test } from 'vitest'
import { expectUnharmed, measureAttack } from './attack.ts'
import { send } from './caller.ts'
import { BOUNDLESS_QUOTAS } from './load.ts'
import { PLAN } from './plan.ts'
import { startServer } from './server-process.ts'

const REQUESTS = 1700

/** Connections that send 1,700 requests in one write and read nothing, again and again. */
const ATTACK = `
  const { connect } = require('node:net')
  const [port, path, connections] = process.argv.slice(1)
  const bytes = ('GET ' + path + ' HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\n\\r\\n').repeat(${REQUESTS})
  const attack = (index) => {
    const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress: '127.0.1.' + (1 + (index % 250)) })
    socket.pause()
    socket.write(bytes)
    socket.on('error', () => {})
    socket.on('close', () => setTimeout(attack, 50, index))
  }
  for (let index = 0; index < connections; index += 1) attack(index)
  // A paused socket keeps no process alive.
  setInterval(() => {}, 1000)`

const ATTACKS = [
  { path: '/docs/js/scalar.js', connections: PLAN.attackConnections },
  { path: '/openapi.json', connections: 14 },
  { path: '/healthz', connections: PLAN.attackConnections },
] as const

test.each(PLAN.isFull ? ATTACKS : ATTACKS.slice(0, 1))(
  `clients that send ${REQUESTS} × GET $path and read nothing hold up nobody ($connections connections)`,
  async ({ path, connections }) => {
    const server = await startServer({ env: BOUNDLESS_QUOTAS })
    // The first reader of the documents has them loaded, which holds up everybody for half a second, once.
    await send(server.url, 'GET', '/docs/js/scalar.js')
    const args = [path, String(connections)]
    const seen = await measureAttack({ server, script: ATTACK, args, forMs: PLAN.attackMs })
    await expectUnharmed(server, `${path}, ${connections} connections`, seen)
  },
)
