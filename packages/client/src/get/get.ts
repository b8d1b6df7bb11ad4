import { parseContentId } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import { bytesToHex } from '@noble/hashes/utils.js'
import { concatBytes } from '../concat-bytes.ts'
import type { Http, HttpRequest } from '../http/http.ts'
import { type OptionNames, refuseUnknownOptions } from '../known-options.ts'
import type { Download, GetOptions } from '../options.ts'
import type { Platform } from '../platform/platform.ts'
import { wholeSizeOf } from './answer-head.ts'
import { bodyOf, collect } from './body.ts'
import { filenameIn } from './content-disposition.ts'
import { ResumingReader } from './resuming-reader.ts'
import { beginVerifying } from './verifier.ts'

/** What a download needs of the client. */
export interface GetContext {
  readonly http: Http
  readonly platform: Platform
}

const DEFAULT_CONTENT_TYPE = 'application/octet-stream'
/** What is compressed on its way has no known length and no ranges. */
const HEADERS = { accept: '*/*', 'accept-encoding': 'identity' }

const GET_OPTIONS: OptionNames<GetOptions> = {
  from: true,
  to: true,
  have: true,
  onProgress: true,
  verify: true,
  share: true,
  signal: true,
}

/** See `LadeClient.get`. */
export async function get(context: GetContext, cid: string, options: GetOptions = {}): Promise<Download> {
  const { from = 0, to, have, signal, verify = true, onProgress } = options
  refuseUnknownOptions('get', options, GET_OPTIONS)
  checkOptions(options)
  const { http, platform } = context
  const id = parseContentId(cid, (bytes) => bytesToHex(platform.sha256.of(bytes)))
  const query = { share: options.share }
  const request: HttpRequest = { path: `/p/${cid}`, query, headers: HEADERS, isOpen: true, signal }
  const haveBytes = have?.size ?? 0

  // What is there is hashed before the rest comes, and how to do that depends on the size of the whole: one byte tells.
  const first = haveBytes > 0 ? { from: 0, to: 0 } : { from, to }
  const answer = await http.send({ ...request, headers: { ...HEADERS, ...rangeOf(first) } })
  const sizeBytes = wholeSizeOf(answer)
  const span = { from: from + haveBytes, end: Math.min(sizeBytes, (to ?? sizeBytes - 1) + 1) }
  if (haveBytes > 0) answer.body?.cancel().catch(() => {})
  if (haveBytes > sizeBytes) throw new LadeError('range_not_satisfiable', { size: sizeBytes })

  const contentType = answer.headers.get('content-type') ?? DEFAULT_CONTENT_TYPE
  const isWhole = from === 0 && span.end === sizeBytes
  const verifier =
    verify && isWhole && id.verified
      ? await beginVerifying({ id, sizeBytes, contentType, http, tools: platform, signal })
      : undefined
  const etag = answer.headers.get('etag') ?? undefined
  const reader = new ResumingReader({
    http,
    request,
    span,
    sizeBytes,
    etag,
    answer: haveBytes > 0 ? undefined : answer,
  })
  const body = bodyOf({
    reader,
    verifier,
    have: haveBytes > 0 ? have : undefined,
    readFile: platform.readFile,
    onReceived: (bytes) => onProgress?.({ sizeBytes, receivedBytes: haveBytes + bytes }),
  })
  return {
    cid,
    sizeBytes,
    contentType,
    filename: filenameIn(answer.headers.get('content-disposition')),
    verified: verifier !== undefined,
    body,
    bytes: async () => concatBytes(await collect(body)),
    blob: async () => new Blob(await collect(body), { type: contentType }),
  }
}

function checkOptions({ from = 0, to, have }: GetOptions): void {
  for (const [name, value] of Object.entries({ from, to })) {
    if (value !== undefined && (!Number.isSafeInteger(value) || value < 0)) {
      throw new TypeError(`${name} is ${value}, but it must be a whole number of 0 or more`)
    }
  }
  if (to !== undefined && to < from)
    throw new TypeError(`to is ${to}, but it must not be less than from, which is ${from}`)
  if (have !== undefined && (from > 0 || to !== undefined)) {
    throw new TypeError('have cannot be combined with from or to: a resumed download is always of the whole file')
  }
}

function rangeOf({ from, to }: { readonly from: number; readonly to: number | undefined }): Record<string, string> {
  return from === 0 && to === undefined ? {} : { range: `bytes=${from}-${to ?? ''}` }
}
