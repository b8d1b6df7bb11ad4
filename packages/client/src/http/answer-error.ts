import { ERROR_SENTENCES, type ErrorCode, type ErrorEvidence, LadeError } from '@lade/core/errors'

/** What every error body has besides the evidence of its code. */
const ENVELOPE = ['error', 'detail', 'type', 'title', 'status', 'requestId']
/** How much of an answer that is no error of this service is quoted. */
const QUOTED_CHARACTERS = 200
/** More than any sentence of a service. */
const MAX_DETAIL_CHARACTERS = 1000

/**
 * The error that an answer other than 2xx stands for: the service's own with its evidence, or `unexpected_answer` for what no
 * service of this version says, such as the page of a proxy.
 */
export async function errorOf(response: Response): Promise<LadeError> {
  const { status } = response
  const requestId = response.headers.get('x-request-id') ?? undefined
  const text = await textOf(response)
  const body = parseObject(text)
  const code = body?.error
  if (body !== undefined && isErrorCode(code)) {
    const evidence = Object.fromEntries(Object.entries(body).filter(([name]) => !ENVELOPE.includes(name)))
    const ownId = typeof body.requestId === 'string' ? body.requestId : requestId
    // What the service says stands: a field that it leaves out is undefined to whoever reads it.
    const detail = typeof body.detail === 'string' ? plainText(body.detail) : ERROR_SENTENCES[code]
    return new LadeError(code, evidence as unknown as ErrorEvidence[ErrorCode], { requestId: ownId, detail })
  }
  if (status === 416) {
    const size = /\/(\d+)$/.exec(response.headers.get('content-range') ?? '')?.[1]
    if (size !== undefined) return new LadeError('range_not_satisfiable', { size: Number(size) }, { requestId })
  }
  return new LadeError('unexpected_answer', { httpStatus: status, reason: reasonOf(status, body, text) }, { requestId })
}

/** An answer with a good status and something else than what the contract has. */
export function unexpected(response: Response, reason: string): LadeError<'unexpected_answer'> {
  return new LadeError('unexpected_answer', { httpStatus: response.status, reason })
}

function reasonOf(status: number, body: Record<string, unknown> | undefined, text: string): string {
  const said = typeof body?.detail === 'string' ? body.detail : text
  const plain = plainText(said.replaceAll(/<[^>]*>/g, ' ')).slice(0, QUOTED_CHARACTERS)
  const code = typeof body?.error === 'string' ? ` (${body.error.slice(0, QUOTED_CHARACTERS)})` : ''
  return `The status was ${status}${code}${plain === '' ? '.' : `: ${plain}`}`
}

/** On one line. */
function plainText(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, MAX_DETAIL_CHARACTERS)
}

function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && Object.hasOwn(ERROR_SENTENCES, value)
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    // JSON.parse has one reason to throw.
    return undefined
  }
}

/** The body, as far as it can be read: of an error, the status alone says enough. */
async function textOf(response: Response): Promise<string> {
  try {
    return await response.text()
  } catch {
    return ''
  }
}
