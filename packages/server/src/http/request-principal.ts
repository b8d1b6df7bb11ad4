import type { IncomingMessage } from 'node:http'
import { addressPrincipal } from '../quotas/principal.ts'
import type { Caller } from './caller.ts'
import type { Service } from './service.ts'

/** Who pays for the work of a request: its caller, or the address that it came from. */
export function requestPrincipal(
  { clientAddress }: Pick<Service, 'clientAddress'>,
  request: IncomingMessage,
  caller?: Pick<Caller, 'principal'>,
): string {
  return caller?.principal ?? addressPrincipal(clientAddress(request))
}
