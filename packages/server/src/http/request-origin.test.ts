import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterEach, describe, expect, it } from 'vitest'
import { rawRequest } from '../testing/running/raw-request.ts'
import { type RunningService, runService } from '../testing/running/running-service.ts'

const running: RunningService[] = []
afterEach(async () => {
  for (const service of running.splice(0).reverse()) await service.remove()
})

async function run(env: Record<string, string>): Promise<RunningService> {
  const service = await runService({ env: { LADE_HOST: '0.0.0.0', ...env } })
  running.push(service)
  return service
}

const BYTES = 'who is asked?'
const WARNING = 'set LADE_PUBLIC_URL or LADE_TRUSTED_HOSTS'
const isWarned = ({ logLines }: RunningService) => logLines.some((line) => line.includes(WARNING))

/** The JSON that is answered to a request for `host`. */
async function ask(service: RunningService, request: string, host: string, headers: readonly string[] = [], body = '') {
  const lines = [`${request} HTTP/1.1`, `Host: ${host}`, 'Connection: close', ...headers]
  if (body !== '') lines.push(`Content-Length: ${body.length}`)
  const answer = await rawRequest(service.url, `${lines.join('\r\n')}\r\n\r\n${body}`)
  return JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)) as Record<string, string>
}
const upload = (service: RunningService, host: string, headers: readonly string[] = []) =>
  ask(
    service,
    `POST /api/upload?cid=${sha256Hex(Buffer.from(BYTES))}`,
    host,
    ['Content-Type: text/plain', ...headers],
    BYTES,
  )
const originOf = (url: string | undefined) => new URL(url ?? '').origin

describe('a service on all addresses without a public URL', () => {
  it('calls itself as the request does, where that is a trusted host', async () => {
    const service = await run({ LADE_TRUSTED_HOSTS: 'lade.internal,192.0.2.7' })
    expect(isWarned(service)).toBe(false)
    for (const host of ['lade.internal', 'LADE.internal:8080', '192.0.2.7:9']) {
      const origin = new URL(`http://${host}`).origin
      expect(originOf((await upload(service, host)).retrievalUrl)).toBe(origin)
      expect(originOf((await ask(service, 'GET /api/info', host)).docs)).toBe(origin)
    }
    for (const host of ['evil.example', 'lade.internal.evil.example', 'lade.internal:99999']) {
      expect(originOf((await upload(service, host)).retrievalUrl)).toBe(service.url)
      expect(originOf((await ask(service, 'GET /api/info', host)).docs)).toBe(service.url)
    }
  })

  it('does so where a body was read before, and for requests at the same time each as its own', async () => {
    const service = await run({ LADE_TRUSTED_HOSTS: 'one.internal,two.internal', LADE_TOKEN_ALG: 'RS256' })
    const signUp = async (host: string) => {
      const body = JSON.stringify({ email: 'ada@example.org', label: 'x' })
      const { token = '' } = await ask(service, 'POST /api/auth/signup', host, ['Content-Type: application/json'], body)
      return (JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { iss: string }).iss
    }
    const hosts = ['one.internal', 'two.internal', 'one.internal', 'two.internal']
    expect(await Promise.all(hosts.map(signUp))).toEqual(hosts.map((host) => `http://${host}`))
  })

  it('believes a trusted proxy about the scheme, and nobody else', async () => {
    const service = await run({ LADE_TRUSTED_HOSTS: 'lade.internal', LADE_TRUSTED_PROXIES: '127.0.0.1' })
    const https = ['X-Forwarded-Proto: https']
    expect(originOf((await upload(service, 'lade.internal', https)).retrievalUrl)).toBe('https://lade.internal')
    const direct = await run({ LADE_TRUSTED_HOSTS: 'lade.internal' })
    expect(originOf((await upload(direct, 'lade.internal', https)).retrievalUrl)).toBe('http://lade.internal')
  })

  it('warns at the start where it trusts no host', async () => {
    const service = await run({})
    expect(isWarned(service)).toBe(true)
    expect(originOf((await upload(service, 'lade.internal')).retrievalUrl)).toBe(service.url)
  })

  it('is called by its public URL, where it has one, and does not warn', async () => {
    const env = { LADE_PUBLIC_URL: 'https://lade.example', LADE_TRUSTED_HOSTS: 'lade.internal', LADE_HOST: '127.0.0.1' }
    const service = await runService({ env })
    running.push(service)
    expect(isWarned(service)).toBe(false)
    expect(service.url).toBe('https://lade.example')
  })
})
