import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { send, sponsoredCaller, upload } from './caller.ts'
import { newContent } from './content.ts'
import { BOUNDLESS_QUOTAS } from './load.ts'
import { PLAN } from './plan.ts'
import { type ServerProcess, startServer } from './server-process.ts'

const REQUESTS = 1700
const MOST_MIB = 512
const MOST_HEALTH_MS = 500
const QUIET_MS = PLAN.isFull ? 4000 : 500
/** Where p99 is a few milliseconds, one garbage collection is five times that. */
const LEAST_P99_MS = 30

/** Connections that send 1,700 requests in one write and read nothing, again and again, in a process that yields to all others. */
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
  for (let index = 0; index < connections; index += 1) attack(index)`

interface Seen {
  readonly uploadP99Ms: number
  readonly healthMs: number
  readonly peakMiB: number
}

/** What another caller sees of the service meanwhile. */
async function look({ url, pid }: ServerProcess, forMs: number): Promise<Seen> {
  const caller = sponsoredCaller('192.0.2.7')
  const uploadsMs: number[] = []
  let healthMs = 0
  let peakMiB = 0
  for (const end = performance.now() + forMs; performance.now() < end; await sleep(20)) {
    const startedAt = performance.now()
    expect((await upload(url, caller, newContent(4096))).status).toBe(200)
    const uploadedAt = performance.now()
    uploadsMs.push(uploadedAt - startedAt)
    expect((await send(url, 'GET', '/healthz')).status).toBe(200)
    healthMs = Math.max(healthMs, performance.now() - uploadedAt)
    const [, kib = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    peakMiB = Math.max(peakMiB, Number(kib) / 1024)
  }
  uploadsMs.sort((one, other) => one - other)
  return { uploadP99Ms: uploadsMs[Math.floor((uploadsMs.length - 1) * 0.99)] ?? 0, healthMs, peakMiB }
}

const ATTACKS = [
  { path: '/docs/js/scalar.js', connections: PLAN.pipeliningConnections },
  { path: '/openapi.json', connections: 14 },
  { path: '/healthz', connections: PLAN.pipeliningConnections },
] as const

test.each(PLAN.isFull ? ATTACKS : ATTACKS.slice(0, 1))(
  `clients that send ${REQUESTS} × GET $path and read nothing hold up nobody ($connections connections)`,
  async ({ path, connections }) => {
    const server = await startServer({ env: BOUNDLESS_QUOTAS })
    // The first reader of the documents has them loaded, which holds up everybody for half a second, once.
    await send(server.url, 'GET', '/docs/js/scalar.js')
    await look(server, QUIET_MS / 4)
    const quiet = await look(server, QUIET_MS)
    const attacker = spawn('nice', [
      '-n',
      '19',
      process.execPath,
      '-e',
      ATTACK,
      server.url.port,
      path,
      String(connections),
    ])
    onTestFinished(() => void attacker.kill('SIGKILL'))
    const attacked = await look(server, PLAN.pipeliningMs)
    attacker.kill('SIGKILL')
    const story = JSON.stringify({ quiet, attacked })
    expect(attacked.peakMiB, story).toBeLessThan(MOST_MIB)
    // The whole plan has the machine to itself.
    if (PLAN.isFull) {
      process.stderr.write(`${path}, ${connections} connections: ${story}\n`)
      expect(attacked.healthMs, story).toBeLessThan(MOST_HEALTH_MS)
      expect(attacked.uploadP99Ms, story).toBeLessThan(5 * Math.max(quiet.uploadP99Ms, LEAST_P99_MS))
    }
    expect(await server.stop()).toEqual({ code: 0, signal: null })
  },
)
