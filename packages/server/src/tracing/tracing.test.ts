import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterEach, expect, it, vi } from 'vitest'
import { type RunningService, runService } from '../testing/running/running-service.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const TRACEPARENT = `00-${TRACE}-00f067aa0ba902b7-01`

interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

const servers: Server[] = []
let service: RunningService | undefined
afterEach(async () => {
  await service?.remove()
  service = undefined
  for (const server of servers.splice(0)) server.close()
  vi.unstubAllEnvs()
})

/** A server that notes what it is asked, and answers each request with this status. */
async function listen(status: number): Promise<{ origin: string; received: Received[] }> {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    received.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks) })
    response.writeHead(status).end()
  })
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received }
}

const WITH_PROVER = { LADE_AGGREGATE_BELOW_MB: '0' }

it('hands the trace of an upload on to its prover, as it came', async () => {
  const prover = await listen(418)
  service = await runService({ env: { ...WITH_PROVER, LADE_PROVER: prover.origin } })
  const headers = { traceparent: TRACEPARENT, tracestate: 'vendor=1' }
  expect((await service.upload(randomBytes(100_000), { headers })).status).toBe(502)
  expect(prover.received.length).toBeGreaterThan(0)
  for (const { headers } of prover.received)
    expect(headers).toMatchObject({ traceparent: TRACEPARENT, tracestate: 'vendor=1' })
})

it('tells the prover of no trace where the upload has none, or none that is valid', async () => {
  const prover = await listen(418)
  service = await runService({ env: { ...WITH_PROVER, LADE_PROVER: prover.origin } })
  await service.upload(randomBytes(100_000), { headers: { traceparent: 'invalid', tracestate: 'vendor=1' } })
  await service.upload(randomBytes(100_000))
  expect(prover.received.length).toBeGreaterThan(1)
  for (const { headers } of prover.received) {
    expect(headers).not.toHaveProperty('traceparent')
    expect(headers).not.toHaveProperty('tracestate')
  }
})

it('exports a span for each request and each call to a prover, all of the trace that the request came with', async () => {
  const prover = await listen(418)
  const collector = await listen(200)
  const otel = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.origin,
    OTEL_SERVICE_NAME: 'lade-of-the-test',
  }
  // The SDK reads the environment of the process.
  for (const [name, value] of Object.entries(otel)) vi.stubEnv(name, value)
  service = await runService({ env: { ...WITH_PROVER, ...otel, LADE_PROVER: prover.origin, LADE_LOG_LEVEL: 'info' } })
  const bytes = randomBytes(100_000)
  const headers = { traceparent: TRACEPARENT }
  expect((await service.upload(bytes, { headers })).status).toBe(502)
  const small = randomBytes(100)
  const path = `/p/${sha256Hex(small)}`
  await service.upload(small)
  for (let read = 0; read < 3; read += 1)
    await (await service.fetch(`${path}?filename=a-name-of-mine`, { headers })).arrayBuffer()
  // What has not been exported yet is exported before the end.
  await service.close()
  await vi.waitFor(() => {
    const exported = Buffer.concat(collector.received.map(({ body }) => body)).toString('latin1')
    const count = (text: string) => exported.split(text).length - 1
    expect(collector.received[0]?.path).toBe('/v1/traces')
    expect(count('POST /api/upload')).toBe(2)
    expect(count('GET /p/{cid}')).toBe(3)
    expect(count('lade-of-the-test')).toBeGreaterThan(0)
    expect(count('http.response.status_code')).toBeGreaterThanOrEqual(5)
    expect(count('stage_failed')).toBe(1)
    expect(count(Buffer.from(TRACE, 'hex').toString('latin1'))).toBe(4 + prover.received.length)
    expect(exported).not.toContain('a-name-of-mine')
  })
  // The span of the call, below the span of the upload.
  for (const { headers } of prover.received) {
    expect(headers.traceparent).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`))
    expect(headers.traceparent).not.toBe(TRACEPARENT)
  }
})

it('goes on when the collector does not answer, says so, and ends in time', async () => {
  const collector = await listen(500)
  const otel = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.origin }
  for (const [name, value] of Object.entries(otel)) vi.stubEnv(name, value)
  service = await runService({ env: otel })
  expect((await service.upload(randomBytes(100))).status).toBe(200)
  await vi.waitFor(() => expect(service?.logLines.join('')).toContain('traces could not be exported'), {
    timeout: 20_000,
  })
  const startedAt = performance.now()
  await service.close()
  expect(performance.now() - startedAt).toBeLessThan(8000)
})
