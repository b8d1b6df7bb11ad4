/** A refusal of the service, in its own words. */
class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly code: string
  readonly requestId: string | undefined

  constructor(code: string, detail: string, requestId?: string) {
    super(detail)
    this.code = code
    this.requestId = requestId
  }
}

export interface ApiRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly json?: unknown
}

/**
 * Asks the service of this page, with the cookie of a session where there is one. For what is needed before the client is loaded, and what
 * only this page asks.
 *
 * @throws {ApiError} what the service refuses; `unreachable` without an answer.
 */
export async function api<Result>(path: string, { method = 'GET', json }: ApiRequest = {}): Promise<Result> {
  let response: Response
  try {
    response = await fetch(path, {
      method,
      headers: { accept: 'application/json', ...(json !== undefined && { 'content-type': 'application/json' }) },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    })
  } catch {
    throw new ApiError('unreachable', 'The service cannot be reached. Check the connection and try again.')
  }
  const body = await response.json().catch(() => undefined)
  if (response.ok && body !== undefined) return body as Result
  const { error = 'unexpected_answer', detail, requestId } = (body ?? {}) as Record<string, string | undefined>
  throw new ApiError(error, detail ?? `The service answered with status ${response.status}.`, requestId)
}

/** What to tell somebody of an error: what the service says of it. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The stable code of an error of the service; undefined for any other. */
export function codeOf(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { code?: unknown }
  return typeof code === 'string' ? code : undefined
}
