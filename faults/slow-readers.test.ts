import { setTimeout as sleep } from 'node:timers/promises'
import { createLadeClient } from '@lade/client'
import { expect, test } from 'vitest'
import { expectUnharmed, measureAttack } from './attack.ts'
import { send, sponsoredCaller, upload } from './caller.ts'
import { newContent, sha256Hex } from './content.ts'
import { BOUNDLESS_QUOTAS } from './load.ts'
import { FULL_PLAN_ONLY, PLAN } from './plan.ts'
import { startServer } from './server-process.ts'

const MIB = 1024 * 1024
const METRICS_TOKEN = 'metrics-of-slow-readers'
const BIG_BYTES = 16 * MIB

/** Connections that ask for something and read nothing, in a process that yields to all others; each is opened again when it was closed. */
const ATTACK = `
  const { connect } = require('node:net')
  const [port, path, connections] = process.argv.slice(1)
  const attack = (index) => {
    const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress: '127.0.1.' + (1 + (index % 250)) })
    socket.pause()
    // The kernel alone takes some megabytes.
    socket.write(('GET ' + path + ' HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\n\\r\\n').repeat(4))
    socket.on('error', () => {})
    socket.on('close', () => setTimeout(attack, 1000, index))
  }
  for (let index = 0; index < connections; index += 1) attack(index)
  // Connections that are not read do not keep a process running.
  setInterval(() => {}, 1000)`

const ATTACKS = [
  { what: 'a document', isFile: false, connections: PLAN.slowReaders },
  { what: 'a big file', isFile: true, connections: PLAN.slowFileReaders },
] as const

test.each(PLAN.isFull ? ATTACKS : ATTACKS.slice(1))(
  '$connections readers of $what that read nothing hold up nobody',
  async (attack) => {
    const { what, isFile, connections } = attack
    const server = await startServer({ env: { ...BOUNDLESS_QUOTAS, LADE_METRICS_TOKEN: METRICS_TOKEN } })
    let path = '/docs/js/scalar.js'
    if (isFile) {
      const content = newContent(BIG_BYTES)
      expect((await upload(server.url, sponsoredCaller('192.0.2.9'), content)).status).toBe(200)
      path = `/p/${content.cid}`
    } else {
      // The first reader of the documents has them loaded, which holds up everybody for half a second, once.
      await send(server.url, 'GET', path)
    }
    const seen = await measureAttack({
      server,
      script: ATTACK,
      args: [path, String(connections)],
      forMs: PLAN.slowReadersMs,
    })
    if (PLAN.isFull) {
      const headers = { authorization: `Bearer ${METRICS_TOKEN}` }
      const metrics = String((await send(server.url, 'GET', '/metrics', { headers })).body)
      const [counter, closed] = /^lade_held_back_total\{work="read",how="closed"\} (\d+)/m.exec(metrics) ?? []
      expect(Number(closed), counter).toBeGreaterThanOrEqual(connections)
    }
    await expectUnharmed(server, `${connections} readers of ${what}`, seen)
  },
)

// The limits are minutes, so the ordinary plan has them in slow-readers.test.ts of the server alone.
test.runIf(PLAN.isFull)(
  'a client that pauses for less than a minute gets its file, and one that is cut off goes on',
  { ...FULL_PLAN_ONLY, timeout: 300_000 },
  async () => {
    const server = await startServer({ env: BOUNDLESS_QUOTAS })
    const content = newContent(BIG_BYTES)
    expect((await upload(server.url, sponsoredCaller('192.0.2.9'), content)).status).toBe(200)
    const client = createLadeClient({ url: server.url.href })
    const heldBack = (): boolean => server.log().includes('held back')
    const readWithPause = async (pauseMs: number): Promise<string> => {
      const { body } = await client.get(content.cid)
      const chunks: Uint8Array[] = []
      for await (const chunk of body) {
        if (chunks.length === 3) await sleep(pauseMs)
        chunks.push(chunk)
      }
      return sha256Hex(Buffer.concat(chunks))
    }
    expect(await readWithPause(58_000)).toBe(content.cid)
    expect(heldBack()).toBe(false)
    expect(await readWithPause(70_000)).toBe(content.cid)
    expect(heldBack()).toBe(true)
    expect(await server.stop()).toEqual({ code: 0, signal: null })
  },
)
