import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { expectUnharmed, measureAttack } from './attack.ts'
import { send, sponsoredCaller } from './caller.ts'
import { newContent, sha256Hex } from './content.ts'
import { BOUNDLESS_QUOTAS } from './load.ts'
import { PLAN } from './plan.ts'
import { startServer } from './server-process.ts'

const MIB = 1024 * 1024
const MOST_CHALLENGE_MS = 50
const MEASURED = 10
const METRICS_TOKEN = 'metrics-of-challenges'

/** Connections from many addresses that have a file challenged, again and again. */
const ATTACK = `
  const http = require('node:http')
  const [port, path, connections] = process.argv.slice(1)
  const challenge = (index, agent) => {
    const body = JSON.stringify({ nonce: String(Math.random()) })
    const headers = { 'content-type': 'application/json', 'content-length': body.length }
    const request = http.request({ host: '127.0.0.1', port, method: 'POST', path, agent, headers }, (response) => {
      response.resume()
      response.on('end', () => challenge(index, agent))
      response.on('error', () => {})
    })
    request.on('error', () => setTimeout(challenge, 50, index, agent))
    request.end(body)
  }
  for (let index = 0; index < connections; index += 1) {
    challenge(index, new http.Agent({ keepAlive: true, maxSockets: 1, localAddress: '127.0.1.' + (1 + (index % 250)) }))
  }`

test(`${PLAN.attackConnections} connections that have a file of ${PLAN.challengedBytes / MIB} MiB challenged hold up nobody`, async () => {
  const server = await startServer({
    env: { ...BOUNDLESS_QUOTAS, LADE_SPONSORED_FILE_MB: '1024', LADE_METRICS_TOKEN: METRICS_TOKEN },
  })
  const { url } = server
  const { headers } = sponsoredCaller('192.0.2.8')
  const bytes = Buffer.alloc(PLAN.challengedBytes, newContent(MIB).bytes())
  const cid = sha256Hex(bytes)
  const path = `/p/${cid}/challenge`
  const ofBytes = { ...headers, 'content-type': 'application/octet-stream' }
  expect((await send(url, 'POST', `/api/upload?cid=${cid}`, { headers: ofBytes, body: bytes })).status).toBe(200)
  const challenge = async (nonce: string): Promise<number> => {
    const body = Buffer.from(JSON.stringify({ nonce }))
    return (await send(url, 'POST', path, { headers: { ...headers, 'content-type': 'application/json' }, body })).status
  }
  const ofMetrics = { authorization: `Bearer ${METRICS_TOKEN}` }
  const chargedMs = async (): Promise<number> => {
    const metrics = (await send(url, 'GET', '/metrics', { headers: ofMetrics })).body.toString()
    return 1000 * Number(/^lade_work_seconds_total\{work="challenge"\} (\S+)$/m.exec(metrics)?.[1] ?? 0)
  }
  // Once it was audited for the first time.
  while ((await challenge('first')) !== 200) await sleep(100)
  const beforeMs = await chargedMs()
  for (let index = 0; index < MEASURED; index += 1) expect(await challenge(`n${index}`)).toBe(200)
  const eachMs = ((await chargedMs()) - beforeMs) / MEASURED
  expect(eachMs).toBeGreaterThan(0)
  expect(eachMs).toBeLessThan(MOST_CHALLENGE_MS)

  const args = [path, String(PLAN.attackConnections)]
  const seen = await measureAttack({ server, script: ATTACK, args, forMs: PLAN.attackMs })
  await expectUnharmed(server, `challenges of ${eachMs.toFixed(1)} ms`, seen)
})
