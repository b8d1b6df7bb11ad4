import type { IncomingMessage } from 'node:http'
import { addressPrincipal } from '../quotas/principal.ts'
import type { Exchange } from './exchange.ts'
import { pathOf } from './query.ts'
import type { EndedRequest } from './request-counters.ts'
import type { Service } from './service.ts'

/** What it takes to log a request, and whose it is. */
export type RequestLog = Pick<Service, 'log' | 'refusals' | 'clientAddress'>

/** Logs a request that has ended: one line. Successful reads are logged at `debug`, 5xx of the service as errors, and refusals as far as `refusals` says. */
export function logRequest(
  { log, refusals, clientAddress }: RequestLog,
  request: IncomingMessage,
  { requestId, code, principal, traceparent, notes }: Exchange,
  ended: EndedRequest & { readonly isComplete: boolean },
): void {
  const { route, method, status, durationMs, bytesIn, bytesOut, isComplete } = ended
  const isRead = method === 'GET' || method === 'HEAD'
  // Whoever uploads a site can make its rules unreadable, as often as anybody asks for it.
  const isTrouble = status >= 500 && code !== 'invalid_redirects'
  const level = isTrouble ? 'error' : status >= 400 || !isRead ? 'info' : 'debug'
  if (!log.isLevelEnabled(level)) return
  const address = clientAddress(request)
  const payer = addressPrincipal(address)
  if (status >= 400 && !refusals.isLogged(payer, status)) return
  // The path without its query: tokens and share links travel there. A target that is no path may hold a password.
  const { url = '' } = request
  log[level](
    {
      requestId,
      method,
      route,
      path: url.startsWith('/') ? pathOf(url) : '',
      status,
      code,
      principal: principal ?? payer,
      address,
      bytesIn,
      bytesOut,
      durationMs: Math.round(durationMs * 10) / 10,
      complete: isComplete,
      traceparent,
      ...notes,
    },
    'request',
  )
}
