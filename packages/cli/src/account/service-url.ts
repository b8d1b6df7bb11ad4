import { UsageError } from '../usage-error.ts'

/** Where a service listens that was started with nothing set. */
export const DEFAULT_URL = 'http://127.0.0.1:8080'

/**
 * The address of a service in its one spelling, which is what tokens are kept under: no slash at the end, host in lower
 * case, default port left out. A path is kept, for a service behind a prefix.
 *
 * @param name - what the address came from, for the refusal.
 * @throws {UsageError} for what is no plain http or https address.
 *
 * @example
 * readServiceUrl('HTTPS://Lade.example:443/', '--url') // 'https://lade.example'
 */
export function readServiceUrl(text: string, name: string): string {
  const url = URL.parse(text.trim())
  const isPlain =
    url !== null &&
    (url.protocol === 'http:' || url.protocol === 'https:') &&
    url.username === '' &&
    url.password === '' &&
    url.search === '' &&
    url.hash === ''
  // The value is not repeated: it may hold credentials.
  if (!isPlain) throw new UsageError(`${name} must be a URL such as https://lade.example or ${DEFAULT_URL}.`)
  return url.href.replace(/\/+$/, '')
}

/** True where what is sent can be read on the way: plain http to another machine. */
export function isReadableOnTheWay(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  const isHere = hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
  return protocol === 'http:' && !isHere
}
