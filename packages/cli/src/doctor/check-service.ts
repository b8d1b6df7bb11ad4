import { createServer } from 'node:net'
import type { InfoResult, ReadyResult } from '@lade/core/wire'
import { countOf } from '../output/amounts.ts'
import { formatSeconds } from '../output/times.ts'
import { broken, type Finding, ok, unknown, warning } from './finding.ts'

const ANSWER_MS = 5000
/** Tokens and share links are dated by the service, so a clock that is a little off is no harm. */
const SKEW_SECONDS = 30

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
    const sentence = `Nothing answers at ${url} (${health.reason}). "lade serve" starts a service; --url names another one.`
    return { answers: false, findings: [broken('service', sentence)] }
  }
  if (health.status !== 200 || statusOf(health.body) !== 'ok') {
    const sentence = `What answers at ${url} is no Lade: /healthz gives ${health.status}. --url names another address.`
    return { answers: true, findings: [broken('service', sentence)] }
  }
  const findings = [ok('service', `A service answers at ${url}, in ${Math.round(health.tookMs)} ms.`)]
  findings.push(...checkReady(await ask(look, '/readyz')))
  findings.push(checkClock(health, look.nowMs()))
  const info = await ask(look, '/api/info')
  findings.push(checkVersion(info, look.version), checkWallets(info))
  return { answers: true, findings }
}

/** Whether a service could listen at the configured address. Only worth asking where none answers. */
export async function checkPort(host: string, port: number): Promise<Finding> {
  if (port === 0) return ok('port', 'The port is any free one.')
  const server = createServer()
  const code = await new Promise<string | undefined>((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen({ host, port }, () => server.close(() => resolve(undefined)))
  })
  if (code === undefined) return ok('port', `${host}:${port} is free for "lade serve".`)
  if (code === 'EADDRINUSE')
    return broken('port', `${host}:${port} is taken by another program; --port chooses another.`)
  return broken('port', `Nothing can listen at ${host}:${port} (${code}).`)
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
  if (status === 'ready') findings.push(ok('ready', 'It is ready, with everything that it depends on.'))
  else {
    const failing = Object.entries(dependencies ?? {})
      .filter(([, state]) => state !== 'ok')
      .map(([name, state]) => `${name} (${state})`)
    const what = failing.join(', ') || `/readyz gives ${answer.status}`
    const provers = dependencies?.prover === 'failed' ? ' None of the provers that LADE_PROVER names answers.' : ''
    findings.push(broken('ready', `It is not ready: ${what}. Its log says why.${provers}`))
  }
  if (signingKey?.overdue) {
    const age = signingKey.ageDays === null ? 'old' : `${countOf(signingKey.ageDays, 'day')} old`
    findings.push(warning('signingKey', `Its signing key is ${age}; its operator replaces it with "lade keys rotate".`))
  }
  return findings
}

function checkClock({ date }: Extract<Answer, { kind: 'answer' }>, nowMs: number): Finding {
  const theirs = Date.parse(date ?? '')
  if (Number.isNaN(theirs)) return unknown('clock', 'It does not say its time.')
  // The header has whole seconds.
  const aheadSeconds = (theirs + 500 - nowMs) / 1000
  if (Math.abs(aheadSeconds) <= SKEW_SECONDS) return ok('clock', 'Its clock and the one here agree.')
  const which = aheadSeconds > 0 ? 'ahead of' : 'behind'
  return warning(
    'clock',
    `Its clock is ${formatSeconds(Math.abs(aheadSeconds))} ${which} the one here; set the one that is wrong.`,
  )
}

function checkVersion(answer: Answer, version: string): Finding {
  const theirs = answer.kind === 'answer' ? ((answer.body ?? {}) as Partial<InfoResult>).version : undefined
  if (typeof theirs !== 'string') return unknown('version', 'It does not say its version.')
  return theirs === version
    ? ok('version', `It is version ${theirs}, as this program.`)
    : warning(
        'version',
        `It is version ${theirs}, and this program ${version}; use the same where something is missing.`,
      )
}

function checkWallets(answer: Answer): Finding {
  const { wallets } = (answer.kind === 'answer' ? (answer.body ?? {}) : {}) as Partial<InfoResult>
  return wallets
    ? ok(
        'wallets',
        `Wallets of chain ${wallets.chainId} are enabled; ${wallets.usdcPerGib} USDC stand for 1 GiB a day.`,
      )
    : unknown('wallets', 'Wallets are not enabled there.')
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
