import { unexpected } from '../http/answer-error.ts'

/** Where in the file the body of an answer begins. @throws {LadeError} `unexpected_answer`. */
export function beginningOf(response: Response): number {
  if (response.status !== 206) return 0
  const first = /^bytes (\d+)-/.exec(response.headers.get('content-range') ?? '')?.[1]
  if (first === undefined) throw unexpected(response, 'The response does not say which range it contains.')
  return Number(first)
}

/** How many bytes the whole file has. @throws {LadeError} `unexpected_answer`. */
export function wholeSizeOf(response: Response): number {
  const { headers, status } = response
  const text = status === 206 ? /\/(\d+)$/.exec(headers.get('content-range') ?? '')?.[1] : headers.get('content-length')
  if (typeof text !== 'string' || !/^\d+$/.test(text)) throw unexpected(response, 'The response has no length.')
  return Number(text)
}
