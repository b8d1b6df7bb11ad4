import { sizeOf } from '../../hashing/slice.ts'
import type { Transport } from '../../http/transport.ts'
import { bodyOf } from './body-of.ts'
import { xhrTransport } from './xhr-transport.ts'

/** Sends by fetch; a body whose progress is asked for by XMLHttpRequest, since fetch does not tell of it. */
export function browserTransport(fetch?: typeof globalThis.fetch): Transport {
  // Called as a method of something else, a browser's own fetch throws.
  const send = fetch ?? ((...args: Parameters<typeof globalThis.fetch>) => globalThis.fetch(...args))
  const canTell = fetch === undefined && 'XMLHttpRequest' in globalThis
  return async (request) => {
    const { method, url, headers, signal, body, onSent } = request
    if (typeof body !== 'object') return send(url, { method, headers, signal: signal ?? null, body: body ?? null })
    if (canTell && onSent !== undefined) return xhrTransport(request)
    const response = await send(url, { method, headers, signal: signal ?? null, body: bodyOf(body) })
    if (response.ok) onSent?.(sizeOf(body))
    return response
  }
}
