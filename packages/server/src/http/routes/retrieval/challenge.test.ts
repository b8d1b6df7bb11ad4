import { connect } from 'node:net'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { seededBytes } from '../../../blobs/conformance/seeded-bytes.ts'
import { openFakeProver } from '../../../proving/fake-prover.ts'
import type { Prover } from '../../../proving/prover.ts'
import { type RunningService, runService } from '../../../testing/running/running-service.ts'

const BYTES = seededBytes(5000, 1)
const PATH = `/p/${sha256Hex(BYTES)}/challenge`
const CALLER = '198.51.100.7'

describe('POST /p/{cid}/challenge', () => {
  let service: RunningService
  let underWay: number
  let ended: number
  let hold: Promise<void> | undefined
  beforeEach(async () => {
    underWay = 0
    ended = 0
    hold = undefined
    const fake = openFakeProver({ name: 'https://one.example' })
    const prover: Prover = {
      ...fake,
      async prove(question, options) {
        underWay += 1
        options?.signal?.addEventListener('abort', () => (ended += 1), { once: true })
        await hold
        return fake.prove(question, options)
      },
    }
    const env = { LADE_TRUSTED_PROXIES: '127.0.0.1', LADE_AGGREGATE_BELOW_MB: '0' }
    service = await runService({ env, substitutes: { provers: [prover] } })
    expect((await service.upload(BYTES)).status).toBe(200)
    await expect.poll(async () => (await challenge('192.0.2.1')).status, { timeout: 30_000 }).toBe(200)
    underWay = 0
  })
  afterEach(() => service.remove())

  const challenge = (address: string): Promise<Response> =>
    service.fetch(PATH, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
      body: JSON.stringify({ nonce: address }),
    })

  test('error: over_budget for more than two at a time and four that wait of one address; others are answered', async () => {
    const { promise, resolve: release } = Promise.withResolvers<void>()
    hold = promise
    const own = Array.from({ length: 8 }, () => challenge(CALLER))
    const refused = await Promise.race(own)
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(await refused.json()).toMatchObject({ error: 'over_budget', work: 'challenge', used: 6, limit: 6 })
    const other = challenge('198.51.100.8')
    await expect.poll(() => underWay, { timeout: 10_000 }).toBe(3)
    release()
    expect((await other).status).toBe(200)
    const statuses = (await Promise.all(own)).map(({ status }) => status)
    expect(statuses.toSorted()).toEqual([200, 200, 200, 200, 200, 200, 429, 429])
  })

  test('ends when its connection is reset', async () => {
    const { promise, resolve: release } = Promise.withResolvers<void>()
    hold = promise
    const { port } = new URL(service.url)
    const sockets = [1, 2].map(() => {
      const socket = connect({ port: Number(port), host: '127.0.0.1' })
      const body = '{"nonce":"n"}'
      const head = `POST ${PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-For: ${CALLER}\r\nContent-Type: application/json\r\n`
      socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`)
      return socket
    })
    await expect.poll(() => underWay, { timeout: 10_000 }).toBe(2)
    for (const socket of sockets) socket.resetAndDestroy()
    await expect.poll(() => ended, { timeout: 10_000 }).toBe(2)
    release()
    expect((await challenge(CALLER)).status).toBe(200)
  })
})
