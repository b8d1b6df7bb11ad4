import { lookup } from 'node:dns/promises'
import { type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { type AllowedHosts, reachOf } from './allowed-hosts.ts'
import { isPublicAddress } from './public-address.ts'

/** A name server that is asked for all addresses of a host. */
export type Resolve = (host: string) => Promise<readonly { readonly address: string; readonly family: number }[]>

export interface CallOptions {
  readonly allowed: AllowedHosts
  /** Ends the call, also while the body is read. */
  readonly signal: AbortSignal
  /** How long the connection may stand still. */
  readonly idleMs: number
  /** @default GET */
  readonly method?: 'GET' | 'POST'
  readonly body?: string
  /** @default the system's */
  readonly resolve?: Resolve
}

/** Why a call was not made: its host is not one that may be called. */
export class ForbiddenHost extends Error {
  override readonly name = 'ForbiddenHost'
}

/**
 * Calls a host that configuration allows and gives the head of its answer; its body is the caller's to read or destroy.
 *
 * The host is resolved once, all its addresses are checked, and the connection goes to one of them: no second question to a
 * name server could be answered otherwise. Redirects are answers like others and are not followed. No proxy is used.
 *
 * @throws {ForbiddenHost} when the host may not be called; nothing was sent then.
 */
export async function callAllowed(url: URL, options: CallOptions): Promise<IncomingMessage> {
  const reach = reachOf(url, options.allowed)
  if (reach === undefined) throw new ForbiddenHost(`${url.host} is not a host that may be called`)
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const addresses =
    isIP(host) === 0 ? await (options.resolve ?? resolveAll)(host) : [{ address: host, family: isIP(host) }]
  if (addresses.length === 0) throw new Error(`${host} has no address`)
  const isReachable = reach === 'private' || addresses.every(({ address }) => isPublicAddress(address))
  if (!isReachable) throw new ForbiddenHost(`${url.host} has an address that is not public`)

  const { method = 'GET', body, signal, idleMs } = options
  const request: RequestOptions = {
    method,
    signal,
    timeout: idleMs,
    agent: false,
    lookup: pinnedTo(addresses),
    headers: {
      'accept-encoding': 'identity',
      ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    },
  }
  const call = url.protocol === 'https:' ? requestHttps(url, request) : requestHttp(url, request)
  const answered = Promise.withResolvers<IncomingMessage>()
  call.on('response', answered.resolve)
  call.on('error', answered.reject)
  call.on('timeout', () => call.destroy(new Error(`${url.host} stood still`)))
  call.end(body)
  return answered.promise
}

const resolveAll: Resolve = (host) => lookup(host, { all: true })

function pinnedTo(addresses: readonly { readonly address: string; readonly family: number }[]): LookupFunction {
  return (_host, { all }, callback) => {
    const [first] = addresses
    if (all) callback(null, [...addresses])
    else callback(null, first?.address ?? '', first?.family)
  }
}
