import type { IncomingMessage } from 'node:http'
import type { Config } from '../../../config/config.ts'
import { proxiedRequestTest } from '../../client-address.ts'
import { singleHeader } from '../../framing.ts'

/** The ways past this process that an address has for big files. */
export interface Offload {
  /** True where callers may be redirected to the storage. */
  readonly redirects: boolean
  /** The internal location of the proxy that sent this request; undefined when it cannot send files by itself. */
  accelPrefixFor(request: IncomingMessage): string | undefined
}

export interface OffloadOptions {
  /** False for addresses whose callers follow no redirects. */
  readonly mayRedirect: boolean
}

/**
 * The ways that the settings open. A proxy has to be trusted, and to say of every request that it will send the file
 * (`X-Sendfile-Type: X-Accel-Redirect`): whoever comes without it would be given no bytes, and be told that those were all.
 */
export function offloadOf(config: Config, { mayRedirect }: OffloadOptions): Offload {
  const { redirectSeconds, accelPrefix } = config.retrieval
  const isProxied = proxiedRequestTest(config.trustedProxies)
  return {
    redirects: mayRedirect && redirectSeconds > 0,
    accelPrefixFor(request) {
      if (accelPrefix === undefined || !isProxied(request)) return undefined
      const type = singleHeader(request, 'x-sendfile-type')
      return type?.toLowerCase() === 'x-accel-redirect' ? accelPrefix : undefined
    },
  }
}
