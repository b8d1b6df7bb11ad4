import type { IncomingMessage } from 'node:http'
import { LadeError } from '@lade/core/errors'
import type { SessionRecord } from '../records/record-store.ts'
import { exchangeOf } from './exchange.ts'
import { requireOwnOrigin } from './own-origin.ts'
import type { Service } from './service.ts'
import { sessionCookieOf } from './session-cookie.ts'

type SessionService = Pick<Service, 'sessions' | 'publicUrl' | 'config'>

/** A session that a request names by its cookie. */
export interface ShownSession {
  /** What the cookie says; undefined where there are several, of which nobody knows which one is ours. */
  readonly secret: string | undefined
  /** Undefined for one that has ended. */
  readonly session: SessionRecord | undefined
}

/**
 * The session of a request to the API, by its cookie; undefined for a request without one, and for any other path.
 *
 * @throws {LadeError} `foreign_origin` for what a page of another origin asks for; `auth_offline`, `storage_failed`.
 */
export async function shownSession(
  service: SessionService,
  request: IncomingMessage,
): Promise<ShownSession | undefined> {
  if (exchangeOf(request).route?.startsWith('/api/') !== true) return undefined
  const secrets = secretsOf(service, request)
  if (secrets.length === 0) return undefined
  requireOwnPage(service, request)
  const [secret] = secrets
  if (secret === undefined || secrets.length > 1) return { secret: undefined, session: undefined }
  return { secret, session: await service.sessions.use(secret) }
}

/**
 * The same, for a request that acts by its session.
 *
 * @throws {LadeError} `invalid_session` for one that has ended: such a request is refused, and never taken for one without.
 */
export async function sessionOfRequest(
  service: SessionService,
  request: IncomingMessage,
): Promise<SessionRecord | undefined> {
  const shown = await shownSession(service, request)
  if (shown === undefined) return undefined
  if (shown.session === undefined) throw new LadeError('invalid_session', {})
  exchangeOf(request).notes.session = shown.session.id
  return shown.session
}

/** @throws {LadeError} `foreign_origin`. */
export function requireOwnPage({ publicUrl, config }: SessionService, request: IncomingMessage): void {
  requireOwnOrigin(request, { publicUrl: publicUrl(), contentUrl: config.contentUrl })
}

/**
 * Refuses changes by cookie that a page of another origin asks for, also where the route asks for no caller.
 *
 * @throws {LadeError} `foreign_origin`.
 */
export function guardChange(service: SessionService, request: IncomingMessage): void {
  const { method, url = '', headers } = request
  if (headers.cookie === undefined || method === 'GET' || method === 'HEAD' || method === 'OPTIONS') return
  // Whoever is known by something else is not known by the cookie.
  if (headers.authorization !== undefined || headers['signature-input'] !== undefined || /[?&]token=/.test(url)) return
  if (secretsOf(service, request).length > 0) requireOwnPage(service, request)
}

function secretsOf({ publicUrl }: SessionService, { headers }: IncomingMessage): readonly string[] {
  return headers.cookie === undefined ? [] : sessionCookieOf(publicUrl()).read(headers.cookie)
}
