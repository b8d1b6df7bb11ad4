import { createServer } from 'node:net'
import type { InfoResult, ReadyResult } from '@lade/core/wire'
import { countOf } from '../output/amounts.ts'
import { formatSeconds } from '../output/times.ts'
import { broken, type Finding, ok, unknown, warning } from './finding.ts'

const ANSWER_MS = 5000
/** Tokens and share links are dated by the service, so a clock that is a little off is no harm. */
const SKEW_SECONDS = 30

/** How a running service is looked at. */
export interface ServiceLook {
  readonly url: string
  readonly version: string
  readonly fetch: typeof globalThis.fetch
  readonly nowMs: () => number
}

/** Whether a Lade answers at `url`, is ready, has the same time and the same version. */
export async function checkService(look: ServiceLook): Promise<{ answers: boolean; findings: Finding[] }> {
  const { url } = look
  const health = await ask(look, '/healthz')
  if (health.kind === 'silent') {
    const sentence = `Cannot reach ${url} (${health.reason}). Start a service with "lade serve", or choose another service with --url.`
    return { answers: false, findings: [broken('service', sentence)] }
  }
  if (health.status !== 200 || statusOf(health.body) !== 'ok') {
    const sentence = `${url} is not a Lade service: /healthz returned ${health.status}. Choose another URL with --url.`
    return { answers: true, findings: [broken('service', sentence)] }
  }
  const findings = [ok('service', `The service at ${url} answered in ${Math.round(health.tookMs)} ms.`)]
  findings.push(...checkReady(await ask(look, '/readyz')))
  findings.push(checkClock(health, look.nowMs()))
  const info = await ask(look, '/api/info')
  findings.push(checkVersion(info, look.version), checkWallets(info))
  return { answers: true, findings }
}

/** Whether a service could listen at the configured address. Only worth asking where none answers. */
export async function checkPort(host: string, port: number): Promise<Finding> {
  if (port === 0) return ok('port', 'The service picks a free port.')
  const server = createServer()
  const code = await new Promise<string | undefined>((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen({ host, port }, () => server.close(() => resolve(undefined)))
  })
  if (code === undefined) return ok('port', `${host}:${port} is free for "lade serve".`)
  if (code === 'EADDRINUSE')
    return broken('port', `Another program uses ${host}:${port}. Choose another port with --port.`)
  return broken('port', `Cannot listen on ${host}:${port} (${code}).`)
}

type Answer =
  | { readonly kind: 'silent'; readonly reason: string }
  | {
      readonly kind: 'answer'
      readonly status: number
      readonly date: string | null
      readonly tookMs: number
      readonly body: unknown
    }

async function ask({ url, fetch, nowMs }: ServiceLook, path: string): Promise<Answer> {
  const startedMs = nowMs()
  try {
    const response = await fetch(`${url}${path}`, { signal: AbortSignal.timeout(ANSWER_MS), redirect: 'manual' })
    const tookMs = nowMs() - startedMs
    const text = await response.text()
    return {
      kind: 'answer',
      status: response.status,
      date: response.headers.get('date'),
      tookMs,
      body: parseJson(text),
    }
  } catch (error) {
    return { kind: 'silent', reason: reasonOf(error) }
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof DOMException && error.name === 'TimeoutError')
    return `no answer in ${formatSeconds(ANSWER_MS / 1000)}`
  if (!(error instanceof Error)) throw error
  const { cause } = error
  if (cause instanceof Error && 'code' in cause) return String(cause.code)
  return cause instanceof Error ? cause.message : error.message
}

function checkReady(answer: Answer): Finding[] {
  if (answer.kind === 'silent') return [broken('ready', `/readyz did not answer (${answer.reason}).`)]
  const { status, dependencies, signingKey } = (answer.body ?? {}) as Partial<ReadyResult>
  const findings: Finding[] = []
  if (status === 'ready') findings.push(ok('ready', 'The service and everything it depends on are ready.'))
  else {
    const failing = Object.entries(dependencies ?? {})
      .filter(([, state]) => state !== 'ok')
      .map(([name, state]) => `${name} (${state})`)
    const what = failing.join(', ') || `/readyz returned ${answer.status}`
    const provers = dependencies?.prover === 'failed' ? ' No prover in LADE_PROVER is reachable.' : ''
    findings.push(broken('ready', `The service is not ready: ${what}. See its log.${provers}`))
  }
  if (signingKey?.overdue) {
    const age = signingKey.ageDays === null ? 'old' : `${countOf(signingKey.ageDays, 'day')} old`
    findings.push(
      warning(
        'signingKey',
        `The signing key of the service is ${age}. The operator can replace it with "lade keys rotate".`,
      ),
    )
  }
  return findings
}

function checkClock({ date }: Extract<Answer, { kind: 'answer' }>, nowMs: number): Finding {
  const theirs = Date.parse(date ?? '')
  if (Number.isNaN(theirs)) return unknown('clock', 'The service does not report its time.')
  // The header has whole seconds.
  const aheadSeconds = (theirs + 500 - nowMs) / 1000
  if (Math.abs(aheadSeconds) <= SKEW_SECONDS) return ok('clock', 'The clocks of the service and this machine match.')
  const which = aheadSeconds > 0 ? 'ahead of' : 'behind'
  return warning(
    'clock',
    `The clock of the service is ${formatSeconds(Math.abs(aheadSeconds))} ${which} the clock of this machine. Correct the wrong one.`,
  )
}

function checkVersion(answer: Answer, version: string): Finding {
  const theirs = answer.kind === 'answer' ? ((answer.body ?? {}) as Partial<InfoResult>).version : undefined
  if (typeof theirs !== 'string') return unknown('version', 'The service does not report its version.')
  return theirs === version
    ? ok('version', `The service has version ${theirs}, the same as this program.`)
    : warning(
        'version',
        `The service has version ${theirs}, this program ${version}. If a feature is missing, use the same version.`,
      )
}

function checkWallets(answer: Answer): Finding {
  const { wallets } = (answer.kind === 'answer' ? (answer.body ?? {}) : {}) as Partial<InfoResult>
  return wallets
    ? ok('wallets', `Wallets on chain ${wallets.chainId} are enabled. ${wallets.usdcPerGib} USDC give 1 GiB per day.`)
    : unknown('wallets', 'Wallets are not enabled.')
}

function statusOf(body: unknown): unknown {
  return typeof body === 'object' && body !== null && 'status' in body ? body.status : undefined
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
