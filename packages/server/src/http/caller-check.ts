import type { IncomingMessage } from 'node:http'
import type { LadeError } from '@lade/core/errors'
import { pathOf } from './query.ts'
import type { Service } from './service.ts'

/** Answered whoever asks: supervisors must not take a blocked network for a dead service, and operators must be able to let it in again. */
const OPEN_TO_ALL = /^\/(?:healthz|readyz|metrics)$|^\/api\/admin\//

/** What is wrong with the address that a request comes from; undefined where nothing is. */
export type CallerCheck = (request: IncomingMessage) => LadeError<'caller_blocked'> | undefined

/** Refuses requests from blocked networks, before anything of them is looked at. */
export function callerCheck({ moderation, clientAddress }: Pick<Service, 'moderation' | 'clientAddress'>): CallerCheck {
  const { callers } = moderation
  return (request) => {
    if (!callers.hasNetworks || OPEN_TO_ALL.test(pathOf(request.url ?? '/'))) return undefined
    return callers.ofAddress(clientAddress(request))
  }
}
