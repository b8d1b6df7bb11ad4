import http from 'node:http'
import { batchOf, CAR_TYPE } from './batch-car.ts'
import type { Content } from './content.ts'

const ANSWER_TIMEOUT_MS = 60_000

export interface Answer {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly body: Buffer
}

/** Someone whose uploads are counted together: the headers that say who it is, and the name under which it is charged. */
export interface Caller {
  readonly principal: string
  readonly headers: Readonly<Record<string, string>>
}

export interface SendOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  /** True to send the body without saying how long it is. @default false */
  readonly isChunked?: boolean
  readonly agent?: http.Agent
}

/** The ways in which bytes come in. All end in one admission. */
export type Door = 'declared' | 'chunked' | 'lfs' | 'batch' | 'tus' | 'tus-deferred' | 'resumable'

/** The next way in for a caller; without a token, Git LFS is none. */
export function doorFor({ principal }: Caller, index: number): Door {
  const doors: readonly Door[] = principal.startsWith('user:')
    ? ['declared', 'chunked', 'lfs', 'batch', 'tus', 'tus-deferred', 'resumable']
    : ['declared', 'chunked', 'batch', 'tus', 'tus-deferred', 'resumable']
  return doors[index % doors.length] ?? 'declared'
}

/**
 * One request and its whole answer.
 *
 * @throws {Error} when the connection ends, or a minute passes, before the answer is whole: what happened is unknown.
 */
export function send(origin: URL, method: string, path: string, options: SendOptions = {}): Promise<Answer> {
  const { body, isChunked = false, agent = false } = options
  const headers: Record<string, string> = { ...options.headers }
  if (body !== undefined && !isChunked) headers['Content-Length'] = String(body.length)
  if (isChunked) headers['Transfer-Encoding'] = 'chunked'
  return new Promise((resolve, reject) => {
    const { hostname, port } = origin
    const request = http.request({ hostname, port, method, path, headers, agent }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) })
      })
    })
    request.setTimeout(ANSWER_TIMEOUT_MS, () => request.destroy(new Error(`${method} ${path} was not answered.`)))
    request.on('error', reject)
    request.end(body)
  })
}

export function upload(
  origin: URL,
  caller: Caller,
  content: Content,
  { door = 'declared', ...options }: { readonly agent?: http.Agent; readonly door?: Door } = {},
): Promise<Answer> {
  const headers = { ...caller.headers, 'Content-Type': 'application/octet-stream' }
  const request = { ...options, headers, body: content.bytes() }
  if (door === 'batch') return uploadBatch(origin, { ...options, headers }, content)
  if (door === 'tus' || door === 'tus-deferred') return uploadByTus(origin, caller, content, door)
  if (door === 'resumable') {
    const completed = { ...request, headers: { ...headers, 'Upload-Complete': '?1' } }
    return send(origin, 'POST', `/api/upload?cid=${content.cid}`, completed)
  }
  if (door === 'lfs') return send(origin, 'PUT', `/lfs/faults/objects/${content.cid}`, request)
  return send(origin, 'POST', `/api/upload?cid=${content.cid}`, { ...request, isChunked: door === 'chunked' })
}

/** Uploads content in a batch of its own; the answer is the one that its file got. */
async function uploadBatch(origin: URL, request: SendOptions, content: Content): Promise<Answer> {
  const headers = { ...request.headers, 'Content-Type': CAR_TYPE }
  const body = batchOf([{ sha256: content.cid, bytes: content.bytes() }])
  const answer = await send(origin, 'POST', '/api/batches', { ...request, headers, body })
  if (answer.status !== 200) return answer
  const { files } = JSON.parse(answer.body.toString()) as { files: { error?: string; detail?: string }[] }
  const { error, detail } = files[0] ?? {}
  if (error === undefined) return answer
  const status = error === 'quota_exceeded' || error === 'rate_limited' ? 429 : 500
  return { ...answer, status, body: Buffer.from(JSON.stringify({ error, detail })) }
}

/** An upload by tus, in two requests, answered as one in one request is: with 200, or the first refusal. */
async function uploadByTus(origin: URL, caller: Caller, content: Content, door: Door): Promise<Answer> {
  const common = { ...caller.headers, 'Tus-Resumable': '1.0.0' }
  const isDeferred = door === 'tus-deferred'
  const opened = await send(origin, 'POST', '/api/tus', {
    headers: {
      ...common,
      'Content-Length': '0',
      'Upload-Metadata': `cid ${Buffer.from(content.cid).toString('base64')}`,
      ...(isDeferred ? { 'Upload-Defer-Length': '1' } : { 'Upload-Length': String(content.sizeBytes) }),
    },
  })
  if (opened.status !== 201) return opened
  const path = new URL(String(opened.headers.location)).pathname
  const patched = await send(origin, 'PATCH', path, {
    headers: {
      ...common,
      'Upload-Offset': '0',
      'Content-Type': 'application/offset+octet-stream',
      ...(isDeferred && { 'Upload-Length': String(content.sizeBytes) }),
    },
    body: content.bytes(),
  })
  if (patched.status === 204) return { ...patched, status: 200 }
  // What is not continued would keep its part of the quota.
  await send(origin, 'DELETE', path, { headers: common })
  return patched
}

/** A caller without a token, at an address of its choice. */
export function sponsoredCaller(address: string): Caller {
  return { principal: `ip:${address}`, headers: { 'X-Forwarded-For': address } }
}

let signups = 0

/** A new user with a token. @param quotaMb - less than the service's own quota. */
export async function tokenCaller(origin: URL, quotaMb?: number): Promise<Caller> {
  const email = `user-${process.pid}-${signups++}@example.org`
  const body = Buffer.from(JSON.stringify({ email, label: 'faults', ...(quotaMb !== undefined && { quotaMb }) }))
  const answer = await send(origin, 'POST', '/api/auth/signup', {
    body,
    headers: { 'Content-Type': 'application/json' },
  })
  if (answer.status !== 200) throw new Error(`signup answered ${answer.status}: ${answer.body}`)
  const { token, userId } = JSON.parse(answer.body.toString()) as { token: string; userId: string }
  return { principal: `user:${userId}`, headers: { Authorization: `Bearer ${token}` } }
}

/** The code of an error answer. */
export function errorCode(answer: Answer): string {
  return (JSON.parse(answer.body.toString()) as { error: string }).error
}
