import type { LoadResult } from '../load/connections.ts'

const SECONDS_PER_UNIT: Readonly<Record<string, number>> = { us: 1e-6, ms: 0.001, s: 1, m: 60 }

/**
 * Reads what `wrk --latency` prints. wrk does not correct for requests that it could not send while it waited. Answers
 * that took longer than its two seconds are no failure: they show in the rate.
 *
 * @throws Error when an answer was not 2xx or 3xx, when a connection failed, and when the text is not such a report.
 * @example
 * readWrkReport(text) // { completed: 501234, seconds: 5.1, latencyMs: { p50: 0.6, p99: 1.4 } }
 */
export function readWrkReport(text: string): Omit<LoadResult, 'machineBusySeconds'> {
  const failure = /^.*(?:Non-2xx|Socket errors: (?!connect 0, read 0, write 0,)).*$/m.exec(text)?.[0]
  if (failure !== undefined) throw new Error(`wrk reports failures: ${failure.trim()}`)
  const [, completed, amount, unit] = /(\d+) requests in ([\d.]+)(us|ms|s|m),/.exec(text) ?? []
  const secondsPerUnit = SECONDS_PER_UNIT[unit ?? '']
  if (completed === undefined || secondsPerUnit === undefined) throw new Error(`not a report of wrk: ${text}`)
  return {
    completed: Number(completed),
    seconds: Number(amount) * secondsPerUnit,
    latencyMs: { p50: latencyMs(text, '50%'), p99: latencyMs(text, '99%') },
  }
}

function latencyMs(text: string, label: string): number {
  const [, amount, unit] = new RegExp(`^\\s+${label}\\s+([\\d.]+)(us|ms|s|m)$`, 'm').exec(text) ?? []
  const secondsPerUnit = SECONDS_PER_UNIT[unit ?? '']
  if (secondsPerUnit === undefined) throw new Error(`wrk printed no ${label} latency`)
  return Number(amount) * secondsPerUnit * 1000
}
