import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ERROR_SENTENCES, type ErrorCode } from '@lade/core/errors'
import {
  type ChangeRequest,
  type ComposeRequest,
  type DirectoryRequest,
  type FileEntry,
  PART_MEDIA_TYPE,
} from '@lade/core/wire'
import { type FakeFolder, makeFolder, takeBatch } from './fake-folders.ts'
import { unixfsV1Cid } from './importer.ts'

export const FAKE_TOKEN = 'pk_live_fake'
export const FAKE_EMAIL = 'ada@example.org'

/** A request as it came, with as much of its body as was read. */
export interface Seen {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
  bodyBytes: number
}

export interface Staged {
  readonly bytes: Buffer
  readonly entry: FileEntry
}

/** Answers in place of the service; undefined leaves the request to it. */
export type Fault = (request: IncomingMessage, response: ServerResponse) => unknown

/**
 * A service in memory that keeps the contract of uploads, files, composing and retrieval for one user, with parts of any
 * size, and that can be told to fail. It checks every id that is a unixfs-v1-2025 or hex one by `ipfs-unixfs-importer`
 * and node:crypto.
 */
export interface FakeService {
  readonly url: string
  readonly seen: Seen[]
  /** By the id that it was staged under. */
  readonly files: Map<string, Staged>
  /** Made folders, the last one last. */
  readonly folders: FakeFolder[]
  /** Lets the next request for which `matches` holds, such as `POST /api/upload`, end like this. */
  failOnce(matches: string, fault: Fault): void
  /** Lets all of them end like this. */
  failAlways(matches: string, fault: Fault): void
  /** Requests of this method and path, `GET /api/files/` and what is below it included. */
  count(matches: string): number
  stage(bytes: Uint8Array, cid: string, changes?: Partial<FileEntry>): void
  close(): Promise<void>
}

/** The chain on which it would look up wallets. */
const FAKE_CHAIN_ID = 8453

/** What a put asks of a service before it sends parts, and a wallet before it signs. */
const INFO = {
  name: 'lade',
  wallets: { chainId: FAKE_CHAIN_ID },
  tiers: { sponsored: { fileBytes: 40_000_000, termDays: 7 }, token: { fileBytes: 40_000_000, termDays: 30 } },
}

/** What any wallet gets that signs in; `serveSignIn` looks at what it signed. */
const SIGNED_IN = { token: FAKE_TOKEN, address: '0x0', expiresAt: '2100-01-01T00:00:00.000Z' }

/** The raw CID of no bytes. */
const EMPTY_CID = 'bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku'
/** How many missing entries an error names: few, so that tests have more. */
export const MOST_NAMED = 50

const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': '*, authorization',
  'access-control-allow-methods': '*',
  'access-control-expose-headers': '*',
}

interface Answer {
  readonly status: number
  readonly headers?: Record<string, string | number>
  readonly body: unknown
}

export async function startFakeService(): Promise<FakeService> {
  const seen: Seen[] = []
  const files = new Map<string, Staged>()
  const folders: FakeFolder[] = []
  const faults: { readonly matches: string; readonly fault: Fault; readonly isOnce: boolean }[] = []
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      if (!isAbort(error)) console.error(error)
      response.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', url)
    const method = request.method ?? ''
    const note: Seen = { method, path: pathname, query: searchParams, headers: request.headers, bodyBytes: 0 }
    for (const [name, value] of Object.entries(CORS)) response.setHeader(name, value)
    if (method === 'OPTIONS') return void response.writeHead(204).end()
    seen.push(note)
    const place = faults.findIndex(({ matches }) => `${method} ${pathname}`.startsWith(matches))
    const fault = faults[place]
    if (fault !== undefined) {
      if (fault.isOnce) faults.splice(place, 1)
      await fault.fault(request, response)
      if (response.headersSent || response.destroyed || response.socket === null) return
    }
    const chunks: Buffer[] = []
    for await (const chunk of request) {
      chunks.push(chunk)
      note.bodyBytes += chunk.length
    }
    const { status, headers, body } = await answer(note, Buffer.concat(chunks))
    const isRaw = body instanceof Uint8Array
    response.writeHead(status, isRaw ? headers : { 'content-type': 'application/json', ...headers })
    response.end(isRaw ? body : JSON.stringify(body))
  }

  async function answer(note: Seen, body: Buffer): Promise<Answer> {
    const { method, path } = note
    if (method === 'POST' && path === '/api/upload') return upload(note, body)
    if (method === 'POST' && path === '/api/batches') return batch(note, body)
    if (method === 'POST' && path === '/api/directories') return directory(note, body)
    if (method === 'POST' && path === '/api/compose') return compose(note, body)
    if (path === '/api/files') return list(note.query.get('contentType'))
    if (path.startsWith('/api/files/')) return find(method, path.slice('/api/files/'.length), body)
    if (path === '/api/auth/wallet/nonce') return { status: 200, body: { nonce: 'abcdefgh', expiresIn: 600 } }
    if (path === '/api/auth/wallet/verify') return { status: 200, body: SIGNED_IN }
    if (path === '/api/info') return { status: 200, body: INFO }
    if (path === '/api/usage') return { status: 200, body: { email: FAKE_EMAIL } }
    if (path.startsWith('/p/')) return retrieve(path.slice('/p/'.length), note)
    return problem(404, 'not_found')
  }

  async function upload({ query, headers }: Seen, bytes: Buffer): Promise<Answer> {
    const cid = query.get('cid') ?? ''
    if (bytes.length !== Number(headers['content-length'])) return problem(400, 'incomplete_body')
    const actual = await idLike(cid, bytes)
    if (actual !== cid) return problem(422, 'cid_mismatch', { expected: cid, actual })
    stage(bytes, cid, entryFrom(headers, headers['content-type'] ?? '', headers['x-filename']))
    return { status: 200, body: resultOf(cid) }
  }

  async function batch({ headers }: Seen, body: Buffer): Promise<Answer> {
    const changes = entryFrom(headers, 'application/octet-stream', undefined)
    return { status: 200, body: await takeBatch(body, (bytes, cid) => stage(bytes, cid, changes)) }
  }

  async function directory({ query, headers }: Seen, body: Buffer): Promise<Answer> {
    const empty = Buffer.alloc(0)
    const isEmpty = (cid: string) => cid === EMPTY_CID
    const made = await makeFolder(JSON.parse(body.toString()) as DirectoryRequest, (cid) =>
      isEmpty(cid) ? empty : files.get(cid)?.bytes,
    )
    if ('missing' in made) {
      const { missing } = made
      const named = missing.slice(0, MOST_NAMED)
      return problem(422, 'missing_entries', { missing: named, count: missing.length })
    }
    const cid = query.get('cid') ?? made.root
    if (cid !== made.root) return problem(422, 'cid_mismatch', { expected: cid, actual: made.root })
    folders.push(made)
    stage(empty, cid, { ...entryFrom(headers, 'application/vnd.ipld.dag-pb', undefined), filename: made.filename })
    return { status: 200, body: { ...resultOf(cid), kind: 'folder' } }
  }

  async function compose({ query, headers }: Seen, body: Buffer): Promise<Answer> {
    const cid = query.get('cid') ?? ''
    const { parts, contentType = '', filename } = JSON.parse(body.toString()) as ComposeRequest
    const missing = parts.filter((part) => files.get(part)?.entry.status !== 'staged')
    if (missing.length > 0) return problem(422, 'missing_parts', { missing, count: missing.length })
    const bytes = Buffer.concat(parts.map((part) => files.get(part)?.bytes ?? Buffer.alloc(0)))
    const actual = await idLike(cid, bytes)
    if (actual !== cid) return problem(422, 'cid_mismatch', { expected: cid, actual })
    for (const part of parts) restage(part, { status: 'composed' })
    stage(bytes, cid, { ...entryFrom(headers, contentType, undefined), filename: filename ?? null })
    return { status: 200, body: resultOf(cid) }
  }

  function list(asked: string | null): Answer {
    const isListed = ({ status, contentType }: FileEntry): boolean =>
      status === 'staged' && (asked === null ? contentType !== PART_MEDIA_TYPE : contentType === asked)
    const live = [...files.values()].map(({ entry }) => entry).filter(isListed)
    const body = { userId: 'u', email: FAKE_EMAIL, count: live.length, files: live, nextCursor: null }
    return { status: 200, body }
  }

  function find(method: string, cid: string, body: Buffer): Answer {
    const entry = files.get(cid)?.entry
    if (entry === undefined) return problem(404, 'not_found')
    if (method === 'DELETE') {
      if (entry.status !== 'staged') return problem(410, 'gone', { reason: entry.status })
      restage(cid, { status: 'removed' })
    }
    if (method === 'PATCH') {
      const { termDays, ...change } = JSON.parse(body.toString()) as ChangeRequest
      restage(cid, { ...change, ...(termDays === undefined ? {} : { term: `${termDays} days` }) } as Partial<FileEntry>)
    }
    return { status: 200, body: files.get(cid)?.entry }
  }

  function retrieve(cid: string, note: Seen): Answer {
    const file = files.get(cid)
    if (file === undefined) return problem(404, 'not_found')
    const { bytes, entry } = file
    const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(note.headers.range ?? '') ?? []
    const from = Number(first ?? 0)
    if (from >= bytes.length) return problem(416, 'range_not_satisfiable', { size: bytes.length })
    const end = last ? Math.min(Number(last) + 1, bytes.length) : bytes.length
    const headers = { 'content-type': entry.contentType, 'content-length': end - from, etag: `"${cid}"` }
    if (first === undefined) return { status: 200, headers, body: bytes }
    const range = { 'content-range': `bytes ${from}-${end - 1}/${bytes.length}` }
    return { status: 206, headers: { ...headers, ...range }, body: bytes.subarray(from, end) }
  }

  function stage(bytes: Uint8Array, cid: string, changes: Partial<FileEntry> = {}): void {
    const entry: FileEntry = {
      cid,
      size: bytes.length,
      filename: null,
      contentType: 'application/octet-stream',
      uploadedAt: '2030-01-01T00:00:00.000Z',
      term: '30 days',
      sponsored: false,
      dealId: `d-0x${createHash('sha256').update(cid).digest('hex').slice(0, 32)}`,
      pieceCid: null,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      verified: true,
      expiresAt: '2030-01-31T00:00:00.000Z',
      status: 'staged',
      visibility: 'public',
      retrievalUrl: `${url}/p/${cid}`,
      syntheticDealId: `d-0x${createHash('sha256').update(cid).digest('hex').slice(0, 32)}`,
      ...changes,
    }
    files.set(cid, { bytes: Buffer.from(bytes), entry })
  }

  function restage(cid: string, changes: Partial<FileEntry>): void {
    const file = files.get(cid)
    if (file !== undefined) files.set(cid, { bytes: file.bytes, entry: { ...file.entry, ...changes } })
  }

  function resultOf(cid: string) {
    const { uploadedAt: _, ...entry } = files.get(cid)?.entry ?? {}
    return { ...entry, owner: FAKE_EMAIL }
  }

  return {
    url,
    seen,
    files,
    folders,
    failOnce: (matches, fault) => void faults.push({ matches, fault, isOnce: true }),
    failAlways: (matches, fault) => void faults.push({ matches, fault, isOnce: false }),
    count: (matches) => seen.filter(({ method, path }) => `${method} ${path}`.startsWith(matches)).length,
    stage,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** An error of the service, as it answers it. */
function problem(status: number, error: ErrorCode, evidence: Record<string, unknown> = {}): Answer {
  const title = ERROR_SENTENCES[error]
  return { status, body: { error, detail: title, type: '', title, status, requestId: 'r-1', ...evidence } }
}

/** A fault: an error of the service, with headers of its own. */
export function refuse(
  status: number,
  error: ErrorCode,
  evidence: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Fault {
  const { body } = problem(status, error, evidence)
  return (request, response) => {
    request.resume()
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify(body))
  }
}

/** A fault: the connection is reset once so many bytes of the body have come. */
export function resetAfter(bytes: number): Fault {
  return async (request) => {
    const { socket } = request
    let receivedBytes = 0
    for await (const chunk of request) {
      receivedBytes += chunk.length
      if (receivedBytes >= bytes) break
    }
    socket.resetAndDestroy()
  }
}

async function idLike(cid: string, bytes: Uint8Array): Promise<string> {
  return /^[0-9a-f]{64}$/.test(cid) ? createHash('sha256').update(bytes).digest('hex') : unixfsV1Cid(bytes)
}

function entryFrom(headers: IncomingMessage['headers'], contentType: string, filename: unknown): Partial<FileEntry> {
  return {
    contentType,
    filename: typeof filename === 'string' ? decodeURIComponent(filename) : null,
    visibility: headers['x-visibility'] === 'private' ? 'private' : 'public',
    term: headers['x-term-days'] === undefined ? '30 days' : `${headers['x-term-days']} days`,
  }
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'ABORT_ERR')
}
