import { LadeError } from '@lade/core/errors'
import type { ChangeRequest, FileEntry, FileList, UploadResult, UsageResult } from '@lade/core/wire'
import { PART_MEDIA_TYPE } from '@lade/core/wire/headers'
import type { Http } from '../http/http.ts'

/** What the service says of this caller's own files, as far as it may ask. */
export interface OwnFiles {
  /**
   * The caller's live file of this id and size; undefined without one, and where nobody may ask. Of another size it is not
   * the file: its root block has the same id, and so may a CAR of it.
   */
  find(cid: string, sizeBytes: number, signal: AbortSignal): Promise<FileEntry | undefined>
  /** True when one of the newest live files has this size, so that it may be the same. */
  hasOneOfSize(sizeBytes: number, signal: AbortSignal): Promise<boolean>
  /** What is used and left of the quota today; undefined where nobody may ask. */
  usage(signal: AbortSignal): Promise<UsageResult | undefined>
  /** The bytes of the caller's newest live parts together. */
  partBytes(signal: AbortSignal): Promise<number>
  /**
   * A live file as the answer to its upload would be, with all that is wanted of it.
   *
   * @throws {LadeError} `insufficient_scope`, `unverified_account`, `invalid_term`.
   */
  resultOf(file: FileEntry, cid: string, wanted: WantedFile, signal: AbortSignal | undefined): Promise<UploadResult>
}

/** What a put says of its file; undefined for what it leaves to the service. */
export interface WantedFile {
  readonly visibility: 'public' | 'private' | undefined
  readonly contentType: string
  readonly filename: string | undefined
  readonly termDays: number | undefined
}

/** Files in one page, which is as many as a page has. */
const NEWEST = 1000
const ENDED: readonly FileEntry['status'][] = ['expired', 'removed', 'failed', 'composed']

export function ownFiles(http: Http): OwnFiles {
  let mayAsk = http.caller !== undefined

  /** Undefined for what is not there; the first refusal for want of the `list` scope is the last question. */
  async function ask<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
    if (!mayAsk) return undefined
    try {
      return await work()
    } catch (error) {
      if (LadeError.has(error, 'insufficient_scope')) mayAsk = false
      else if (!LadeError.has(error, 'not_found')) throw error
      return undefined
    }
  }

  return {
    async find(cid, sizeBytes, signal) {
      const file = await ask(() => http.json<FileEntry>({ path: `/api/files/${cid}`, signal }))
      return file?.size === sizeBytes && !ENDED.includes(file.status) ? file : undefined
    },
    async hasOneOfSize(sizeBytes, signal) {
      const page = await ask(() => http.json<FileList>({ path: '/api/files', query: { limit: NEWEST }, signal }))
      return page?.files.some(({ size }) => size === sizeBytes) ?? false
    },
    usage: (signal) => ask(() => http.json<UsageResult>({ path: '/api/usage', signal })),
    async partBytes(signal) {
      const query = { contentType: PART_MEDIA_TYPE, limit: NEWEST }
      const page = await ask(() => http.json<FileList>({ path: '/api/files', query, signal }))
      return page?.files.reduce((bytes, { size }) => bytes + size, 0) ?? 0
    },
    async resultOf(found, cid, wanted, signal) {
      const { email, userId } = await http.json<UsageResult>({ path: '/api/usage', signal })
      const json = differenceOf(found, wanted)
      const path = `/api/files/${found.cid}`
      const file = json === undefined ? found : await http.json<FileEntry>({ method: 'PATCH', path, json, signal })
      const { filename, contentType, uploadedAt: _, ...rest } = file
      return {
        ...rest,
        cid,
        retrievalUrl: urlUnder(file.retrievalUrl, file.cid, cid),
        owner: email ?? addressIn(userId),
        status: file.status as UploadResult['status'],
        contentType,
        filename,
      }
    },
  }
}

/** What has to be changed of a file that is there, as an upload of it would; a shorter term is not. */
function differenceOf(file: FileEntry, wanted: WantedFile): ChangeRequest | undefined {
  const { visibility, contentType, filename, termDays } = wanted
  const days = Number.parseInt(file.term, 10)
  const change: ChangeRequest = {
    ...(visibility !== undefined && visibility !== file.visibility && { visibility }),
    ...(contentType !== file.contentType && { contentType }),
    ...(filename !== undefined && filename !== file.filename && { filename: filename.toWellFormed() }),
    ...(termDays !== undefined && termDays > days && { termDays }),
  }
  return Object.keys(change).length === 0 ? undefined : change
}

/** A wallet's user is `eip155:<chain>:<address>`. */
function addressIn(userId: string): string {
  return userId.slice(userId.lastIndexOf(':') + 1)
}

/** The listing has the id that a file was staged under first; an upload is answered under its own. */
function urlUnder(url: string, stagedAs: string, cid: string): string {
  return url.endsWith(`/${stagedAs}`) ? url.slice(0, -stagedAs.length) + cid : url
}
