import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage } from 'node:http'
import type { TraceContext } from './trace-context.ts'

/** A request that this service sends to another one. */
export interface OutgoingCall {
  readonly method: string
  /** Of the server that is called, without path or credentials. */
  readonly origin: string
}

/** Sends a request with the headers that say which trace it belongs to. */
export type TraceCall = <Result>(
  call: OutgoingCall,
  send: (headers: Readonly<Record<string, string>>) => Promise<Result>,
) => Promise<Result>

/** How a request ended. */
export interface TraceEnd {
  readonly route: string | undefined
  readonly status: number
  readonly code: string | undefined
}

/** A request as a part of its trace. */
export interface RequestTrace {
  readonly call: TraceCall
  end(end: TraceEnd): void
}

/** Begins the traces of requests. */
export interface Tracer {
  /** True when every request has a trace, and not only those that came with one. */
  readonly isExporting: boolean
  /** @param context - what the request came with. */
  begin(request: IncomingMessage, context: TraceContext | undefined): RequestTrace | undefined
}

const current = new AsyncLocalStorage<RequestTrace>()

/** Runs what belongs to a request; calls that it makes belong to the trace of that request. */
export function inTrace(trace: RequestTrace | undefined, work: () => void): void {
  if (trace === undefined) work()
  else current.run(trace, work)
}

/** Sends a request to another service as a part of the trace of the request that is being worked on, if there is one. */
export const traceCall: TraceCall = (call, send) => current.getStore()?.call(call, send) ?? send({})

/**
 * Hands on the trace that a request came with, as it came. Spans of this service would be in nobody's records, so that it adds none: what
 * it calls is shown below whoever called it.
 */
export const forwardingTracer: Tracer = {
  isExporting: false,
  begin(_request, context) {
    if (context === undefined) return undefined
    const headers: Readonly<Record<string, string>> = { ...context }
    return { call: (_call, send) => send(headers), end() {} }
  },
}
