import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage } from 'node:http'
import type { Config } from '../config/config.ts'
import { proxiedRequestTest } from './client-address.ts'
import { hostnameOf } from './known-host.ts'

/** Knows which origin the request in hand was sent to, where nothing else says what this service is called. */
export interface RequestOrigin {
  /** Does `work` for this request; everything that it waits for knows the origin, too. */
  run(request: IncomingMessage, work: () => void): void
  /** The origin of the request in hand, if it was sent to a trusted host. */
  current(): string | undefined
}

/**
 * A service that listens on all addresses and has no public URL takes the `Host` of each request for its name, if that is a trusted one:
 * anybody can send any other. Behind a trusted proxy `X-Forwarded-Proto` says which scheme the client used.
 */
export function createRequestOrigin(
  config: Pick<Config, 'host' | 'publicUrl' | 'trustedHosts' | 'trustedProxies'>,
): RequestOrigin {
  const { trustedHosts, trustedProxies } = config
  if (!isNameless(config) || trustedHosts.length === 0) {
    return { run: (_request, work) => work(), current: () => undefined }
  }
  const origins = new AsyncLocalStorage<string>()
  const isProxied = proxiedRequestTest(trustedProxies)

  function originOf(request: IncomingMessage): string | undefined {
    const { host } = request.headers
    if (host === undefined || !trustedHosts.includes(hostnameOf(host))) return undefined
    const isHttps = request.headers['x-forwarded-proto'] === 'https' && isProxied(request)
    const url = `${isHttps ? 'https' : 'http'}://${host}`
    return URL.canParse(url) ? new URL(url).origin : undefined
  }

  return {
    run(request, work) {
      const origin = originOf(request)
      if (origin === undefined) work()
      else origins.run(origin, work)
    },
    current: () => origins.getStore(),
  }
}

/** True where neither the settings nor the address that it listens on say what others call this service. */
export function isNameless({ host, publicUrl }: Pick<Config, 'host' | 'publicUrl'>): boolean {
  return publicUrl === undefined && (host === '0.0.0.0' || host === '::')
}
