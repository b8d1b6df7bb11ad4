import type { Slice } from '../hashing/slice.ts'

/** One request, once. */
export interface TransportRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Slice | undefined
  readonly signal: AbortSignal | undefined
  /** How much of the body has gone out in this attempt. */
  readonly onSent?: ((sentBytes: number) => void) | undefined
}

/**
 * Sends one request, and resolves with whatever is answered.
 *
 * @throws {LadeError} `source_changed` when the body cannot be read as it was.
 * @throws the reason of the signal; any other error means that there was no answer.
 */
export type Transport = (request: TransportRequest) => Promise<Response>
