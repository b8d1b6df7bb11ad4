import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { openFakeProver } from '../../../proving/fake-prover.ts'
import { startFakeS3 } from '../../../testing/doubles/fake-s3/fake-s3.ts'
import { bearer, type RunningService, runService } from '../../../testing/running/running-service.ts'

const TOKEN = 'a token for metrics alone'.replaceAll(' ', '-')

describe('GET /metrics', () => {
  let service: RunningService
  let prover: Server | undefined
  afterEach(async () => {
    await service.remove()
    prover?.close()
    prover = undefined
  })
  const metrics = async (token?: string) => {
    const response = await service.fetch('/metrics', { headers: bearer(token) })
    return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
  }

  it('is not there without a token of its own, and takes no other', async () => {
    service = await runService()
    expect((await metrics()).status).toBe(404)
    await service.remove()
    service = await runService({ env: { LADE_METRICS_TOKEN: TOKEN } })
    expect((await metrics()).status).toBe(401)
    expect((await metrics(`${TOKEN}x`)).status).toBe(401)
    expect((await metrics((await service.signUp()).token)).status).toBe(401)
    expect(await metrics(TOKEN)).toMatchObject({ status: 200, type: expect.stringContaining('text/plain') })
  })

  it('counts the transfers to a prover that begin again', async () => {
    prover = createServer((request, response) => {
      request.resume()
      response.writeHead(request.method === 'GET' ? 404 : 503).end()
    })
    prover.listen(0, '127.0.0.1')
    await once(prover, 'listening')
    const { port } = prover.address() as AddressInfo
    const env = { LADE_METRICS_TOKEN: TOKEN, LADE_AGGREGATE_BELOW_MB: '0', LADE_PROVER: `http://127.0.0.1:${port}` }
    service = await runService({ env })
    expect((await metrics(TOKEN)).text).toContain('lade_driver_retries_total{driver="prover"} 0\n')
    expect((await service.upload(randomBytes(100_000))).status).toBe(502)
    expect((await metrics(TOKEN)).text).toMatch(/lade_driver_retries_total\{driver="prover"\} [1-9]/)
  })

  it('counts the calls to an S3 store that are repeated', async () => {
    const s3 = await startFakeS3()
    vi.stubEnv('AWS_ACCESS_KEY_ID', s3.credentials.accessKeyId)
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', s3.credentials.secretAccessKey)
    try {
      const LADE_STORAGE = `s3://${s3.bucket}/?endpoint=${s3.url}&region=${s3.region}`
      service = await runService({ env: { LADE_METRICS_TOKEN: TOKEN, LADE_STORAGE, LADE_INLINE_KB: '0' } })
      const retried = async () =>
        Number(/^lade_driver_retries_total\{driver="s3"\} (\d+)$/m.exec((await metrics(TOKEN)).text)?.[1])
      const before = await retried()
      s3.faults.failNext(2, { status: 503, code: 'SlowDown', on: 'PutObject' })
      expect((await service.upload(randomBytes(100_000))).status).toBe(200)
      expect(await retried()).toBe(before + 2)
      await service.close()
    } finally {
      vi.unstubAllEnvs()
      await s3.close()
    }
  })

  it('counts copies, deals and audits, also those that fail', async () => {
    const prover = openFakeProver({ name: 'https://one.example' })
    const env = { LADE_METRICS_TOKEN: TOKEN, LADE_AGGREGATE_BELOW_MB: '0', LADE_AUDIT_SECONDS: '1' }
    service = await runService({ env, substitutes: { provers: [prover] } })
    await service.upload(randomBytes(100_000))
    await vi.waitFor(
      async () => {
        const { text } = await metrics(TOKEN)
        expect(text).toContain('lade_copies{prover="https://one.example",state="stored"} 1\n')
        expect(text).toContain('lade_deals{status="active"} 1\n')
        expect(text).toMatch(/lade_audits_total\{prover="https:\/\/one.example",result="passed"\} [1-9]/)
        expect(text).toContain('lade_audits_total{prover="https://one.example",result="failed"} 0\n')
      },
      { timeout: 15_000, interval: 200 },
    )
    prover.script.liesAboutBytes = true
    await vi.waitFor(
      async () => {
        const { text } = await metrics(TOKEN)
        expect(text).toMatch(/lade_audits_total\{prover="https:\/\/one.example",result="failed"\} [1-9]/)
        expect(text).toMatch(/lade_copies_failed_total [1-9]/)
        expect(text).not.toContain('lade_deals{status="active"} 1\n')
      },
      { timeout: 15_000, interval: 200 },
    )
    expect((await metrics(TOKEN)).text).toMatch(/process_cpu_seconds_total [0-9.]+\n/)
    expect((await metrics(TOKEN)).text).toMatch(/lade_signing_key_age_seconds 0\n/)
    expect((await metrics(TOKEN)).text).toMatch(/lade_deletion_paused 0\n/)
    expect((await metrics(TOKEN)).text).toMatch(/lade_clock_offset_seconds 0\n/)
  })
})
