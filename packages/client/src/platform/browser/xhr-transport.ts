import type { TransportRequest } from '../../http/transport.ts'
import { bodyOf } from './body-of.ts'

/** What is used here of a browser's XMLHttpRequest; core and Node know no such type. */
interface Xhr {
  readonly upload: { onprogress: ((event: { readonly loaded: number }) => void) | null }
  readonly status: number
  readonly responseText: string
  onload: (() => void) | null
  onerror: (() => void) | null
  onabort: (() => void) | null
  open(method: string, url: string): void
  setRequestHeader(name: string, value: string): void
  getAllResponseHeaders(): string
  send(body: unknown): void
  abort(): void
}

/** Sends a body by XMLHttpRequest, which tells how much of it has gone out. The answer is read whole. */
export function xhrTransport({ method, url, headers, body, signal, onSent }: TransportRequest): Promise<Response> {
  const { XMLHttpRequest } = globalThis as unknown as { XMLHttpRequest: new () => Xhr }
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const xhr = new XMLHttpRequest()
    const abort = () => xhr.abort()
    const end = (settle: () => void) => () => {
      signal?.removeEventListener('abort', abort)
      settle()
    }
    xhr.open(method, url)
    for (const [name, value] of Object.entries(headers)) xhr.setRequestHeader(name, value)
    xhr.upload.onprogress = ({ loaded }) => onSent?.(loaded)
    xhr.onload = end(() =>
      resolve(
        new Response(xhr.responseText || null, { status: xhr.status, headers: headersOf(xhr.getAllResponseHeaders()) }),
      ),
    )
    xhr.onerror = end(() => reject(new TypeError('the request failed')))
    xhr.onabort = end(() => reject(signal?.reason))
    signal?.addEventListener('abort', abort, { once: true })
    xhr.send(typeof body === 'object' ? bodyOf(body) : body)
  })
}

function headersOf(lines: string): Headers {
  const headers = new Headers()
  for (const line of lines.split('\r\n')) {
    const colon = line.indexOf(':')
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1).trim())
  }
  return headers
}
