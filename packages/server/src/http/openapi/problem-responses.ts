import { STATUS_CODES } from 'node:http'
import { codesOf, STATUS } from '../problem.ts'
import { headersOf, QUOTA_HEADERS, type ResponseHeader } from './response-headers.ts'

const ANSWERED: ReadonlySet<number> = new Set(Object.values(STATUS))

/** What any request can get, whatever it asks for: malformed, too slow, over its budget, blocked, to the wrong host, while the service stops. */
const ANYWHERE = [400, 403, 408, 411, 417, 421, 429, 431, 500, 503]
/** What can be wrong with any body. */
const WITH_BODY = [413, 415]
/** A token that is sent is checked also where none is needed. */
const WITH_CREDENTIALS = [401, 403]

/** Statuses of tus 1.0.0 that HTTP does not have. */
const TUS_REASONS: Readonly<Record<number, string>> = { 460: 'Checksum Mismatch' }

/** Headers that belong to errors of a status. */
const HEADERS: Readonly<Record<number, readonly ResponseHeader[]>> = {
  401: ['WWW-Authenticate'],
  416: ['Content-Range'],
  429: ['Retry-After', ...QUOTA_HEADERS],
  503: ['Retry-After'],
}

/** The statuses of errors that an operation can answer besides its own. */
export function commonStatuses(operation: { readonly hasBody: boolean; readonly hasCredentials: boolean }): number[] {
  const { hasBody, hasCredentials } = operation
  const statuses = [...ANYWHERE, ...(hasBody ? WITH_BODY : []), ...(hasCredentials ? WITH_CREDENTIALS : [])]
  return statuses.filter((status) => ANSWERED.has(status))
}

/** One response for each status of an error that these operations have. They refer to them. */
export function problemResponses(
  operations: readonly { readonly responses: Readonly<Record<string, object>> }[],
): Record<string, object> {
  const schema = { $ref: '#/components/schemas/Problem' }
  const answered = new Set(operations.flatMap(({ responses }) => Object.keys(responses).map(Number)))
  const statuses = [...ANSWERED].filter((status) => answered.has(status)).sort()
  return Object.fromEntries(
    statuses.map((status) => [
      nameOf(status),
      {
        description: `${reasonOf(status)}: ${codesOf(status).join(', ')}`,
        headers: headersOf(['X-Request-Id', ...(HEADERS[status] ?? [])]),
        content: { 'application/json': { schema }, 'application/problem+json': { schema } },
      },
    ]),
  )
}

export function problemResponse(status: number): { readonly $ref: string } {
  return { $ref: `#/components/responses/${nameOf(status)}` }
}

/** @example nameOf(404) // 'NotFound' */
function nameOf(status: number): string {
  return reasonOf(status).replace(/[^A-Za-z]/g, '')
}

function reasonOf(status: number): string {
  const reason = STATUS_CODES[status] ?? TUS_REASONS[status]
  if (reason === undefined) throw new TypeError(`status ${status} has no name`)
  return reason
}
