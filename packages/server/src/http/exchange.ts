import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { ErrorCode } from '@lade/core/errors'
import { HEADER } from '@lade/core/wire'
import type { RequestTrace } from '../tracing/tracing.ts'
import type { Lingering } from './lingering.ts'

/** What the service notes about one request, for its log line and its error bodies. */
export interface Exchange {
  readonly requestId: string
  /** On the monotonic clock of this process, in milliseconds. */
  readonly startedAt: number
  /** The template of its path, such as `/p/{cid}`; undefined until it is known, and for no path of this service. */
  route: string | undefined
  /** Of the error that it was answered with. */
  code: ErrorCode | undefined
  /** Who asks, once their credentials have held; otherwise the address is whose request it is. */
  principal: string | undefined
  /** The header of that name that the request came with, if it is a valid one. */
  traceparent: string | undefined
  trace: RequestTrace | undefined
  /** Facts for the log: ids, sizes, outcomes. Never a token, a share link or a query string. */
  readonly notes: Record<string, string | number | boolean>
  /** True when the client has ended the connection before the body's end. */
  isBodyCut: boolean
  /** Set by whoever reads the body, to hear of that at once. */
  onBodyCut?: () => void
  /** Reads what is left of the body after an early refusal. */
  readonly lingering: Pick<Lingering, 'discard'>
}

/** Where a request carries its exchange. A property and no WeakMap, whose upkeep costs the collector more than the rest of a request. */
const EXCHANGE = Symbol('exchange')

type WithExchange = IncomingMessage & { [EXCHANGE]?: Exchange }

/** Makes request ids: unique across processes and restarts, and short enough to be read out. */
export function requestIdMaker(): () => string {
  const prefix = randomBytes(6).toString('hex')
  let count = 0
  return () => {
    count += 1
    return `${prefix}-${count.toString(36)}`
  }
}

export function openExchange(
  request: WithExchange,
  given: Pick<Exchange, 'requestId' | 'startedAt' | 'lingering'>,
): Exchange {
  const exchange: Exchange = {
    ...given,
    route: undefined,
    code: undefined,
    principal: undefined,
    traceparent: undefined,
    trace: undefined,
    notes: {},
    isBodyCut: false,
  }
  request[EXCHANGE] = exchange
  return exchange
}

/** The exchange that the server opened for this request. */
export function exchangeOf(request: WithExchange): Exchange {
  const exchange = request[EXCHANGE]
  if (exchange === undefined) throw new TypeError('the request did not come through the server')
  return exchange
}

/** The header by which an answer names its request. */
export function requestIdOf(request: IncomingMessage): Record<string, string> {
  return { [HEADER.requestId]: exchangeOf(request).requestId }
}
