import type { IncomingHttpHeaders } from 'node:http'

const VERSION_00 = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/
/** Of a version that is not known, what is behind the flags belongs to that version. */
const LATER_VERSION = /^(?!00|ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?$/
/** As much as the specification asks everybody to hand on; a longer one is left out, which is allowed. */
const MAX_STATE_CHARACTERS = 512
const MAX_PARENT_CHARACTERS = 512

/** The trace that a request belongs to, as its headers say it (W3C Trace Context). */
export interface TraceContext {
  readonly traceparent: string
  readonly tracestate?: string
}

/**
 * Reads the trace that a request belongs to.
 *
 * @returns undefined when it belongs to none, or its `traceparent` is not a valid one: then `tracestate` means nothing.
 *
 * @example
 * readTraceContext({ traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' })
 */
export function readTraceContext(headers: IncomingHttpHeaders): TraceContext | undefined {
  const { traceparent, tracestate } = headers
  if (typeof traceparent !== 'string' || traceparent.length > MAX_PARENT_CHARACTERS) return undefined
  if (!VERSION_00.test(traceparent) && !LATER_VERSION.test(traceparent)) return undefined
  const hasState = typeof tracestate === 'string' && tracestate !== '' && tracestate.length <= MAX_STATE_CHARACTERS
  return hasState ? { traceparent, tracestate } : { traceparent }
}
