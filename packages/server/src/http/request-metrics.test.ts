import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { rawRequest } from '../testing/running/raw-request.ts'
import { bearer, type RunningService, runService } from '../testing/running/running-service.ts'

const TOKEN = 'a-token-for-metrics-alone'

let service: RunningService
beforeEach(async () => {
  service = await runService({ env: { LADE_METRICS_TOKEN: TOKEN, LADE_LOG_LEVEL: 'info' } })
})
afterEach(() => service.remove())

async function metrics(): Promise<string> {
  return (await service.fetch('/metrics', { headers: bearer(TOKEN) })).text()
}

/** The value of a series; undefined where there is none. */
function valueIn(text: string, series: string): number | undefined {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length + 1))
}

it('counts requests by route, method and status, with their durations and bytes, also those from the cache', async () => {
  const bytes = randomBytes(30_000)
  const cid = sha256Hex(bytes)
  await (await service.upload(bytes)).json()
  for (let read = 0; read < 5; read += 1) await (await service.fetch(`/p/${cid}`)).arrayBuffer()
  await (await service.fetch(`/p/${cid}`, { method: 'HEAD' })).text()
  await (await service.fetch('/api/files/one')).json()
  await vi.waitFor(async () => {
    const text = await metrics()
    const requests = (labels: string) => valueIn(text, `lade_http_requests_total{${labels}}`)
    expect(requests('route="/api/upload",method="POST",status="200"')).toBe(1)
    expect(requests('route="/p/{cid}",method="GET",status="200"')).toBe(5)
    expect(requests('route="/p/{cid}",method="HEAD",status="200"')).toBe(1)
    expect(requests('route="/api/files/{cid}",method="GET",status="401"')).toBe(1)
    const duration = 'lade_http_request_duration_seconds'
    const get = 'route="/p/{cid}",method="GET"'
    expect(valueIn(text, `${duration}_bucket{${get},le="+Inf"}`)).toBe(5)
    expect(valueIn(text, `${duration}_bucket{${get},le="600"}`)).toBe(5)
    expect(valueIn(text, `${duration}_count{${get}}`)).toBe(5)
    expect(valueIn(text, `${duration}_sum{${get}}`)).toBeGreaterThan(0)
    const sent = valueIn(text, `lade_http_response_bytes_total{${get}}`) ?? 0
    expect(sent).toBeGreaterThan(5 * 30_000)
    expect(sent).toBeLessThan(5 * 32_000)
    const received = valueIn(text, 'lade_http_request_bytes_total{route="/api/upload",method="POST"}') ?? 0
    expect(received).toBeGreaterThan(30_000)
    expect(received).toBeLessThan(32_000)
  })
  const text = await metrics()
  expect(text).toContain('# TYPE lade_http_request_duration_seconds histogram\n')
  expect(text).not.toContain(cid)
})

it('counts error responses by code, also of what is no request', async () => {
  await service.fetch('/p/x')
  await service.fetch('/nowhere')
  await service.fetch(`/nowhere/${randomBytes(4).toString('hex')}`)
  await rawRequest(service.url, 'garbage\r\n\r\n')
  await vi.waitFor(async () => {
    const text = await metrics()
    expect(valueIn(text, 'lade_http_errors_total{code="invalid_cid"}')).toBe(1)
    expect(valueIn(text, 'lade_http_errors_total{code="not_found"}')).toBe(2)
    expect(valueIn(text, 'lade_http_errors_total{code="bad_request"}')).toBe(1)
    expect(valueIn(text, 'lade_http_requests_total{route="unmatched",method="GET",status="404"}')).toBe(2)
    expect(valueIn(text, 'lade_http_requests_total{route="unmatched",method="other",status="400"}')).toBe(1)
  })
})

it('shows the uploads in flight', async () => {
  const inFlight = async () => valueIn(await metrics(), 'lade_uploads_in_flight')
  expect(await inFlight()).toBe(0)
  const { hostname, port } = new URL(service.url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  const head = ['Host: localhost', 'Content-Type: text/plain', 'Content-Length: 1000000']
  const cid = sha256Hex(randomBytes(8))
  socket.write(`POST /api/upload?cid=${cid} HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n${'x'.repeat(1000)}`)
  await vi.waitFor(async () => expect(await inFlight()).toBe(1))
  socket.destroy()
  await vi.waitFor(async () => expect(await inFlight()).toBe(0))
})

it('counts what refused requests draw on the budget of their sender', async () => {
  const unpaid = async () => valueIn(await metrics(), 'lade_unpaid_work_seconds_total{work="request"}')
  expect(await unpaid()).toBeUndefined()
  for (const path of ['/nowhere', '/p/no-cid', '/api/deals']) {
    expect((await service.fetch(path)).status).toBeGreaterThanOrEqual(400)
  }
  await vi.waitFor(async () => expect(await unpaid()).toBe(0.0015))
})
