import { LadeError } from '@lade/core/errors'
import type { FileEntry, FileList, UploadResult, UsageResult } from '@lade/core/wire'
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
  /** A live file as the answer to its upload would be. */
  resultOf(file: FileEntry, cid: string, signal: AbortSignal | undefined): Promise<UploadResult>
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
    async resultOf(file, cid, signal) {
      const { email, userId } = await http.json<UsageResult>({ path: '/api/usage', signal })
      const { dealId, size, retrievalUrl, term, sponsored, pieceCid, sha256, verified, status, expiresAt } = file
      return {
        cid,
        dealId,
        size,
        retrievalUrl: urlUnder(retrievalUrl, file.cid, cid),
        term,
        sponsored,
        owner: email ?? addressIn(userId),
        pieceCid,
        sha256,
        verified,
        status: status as UploadResult['status'],
        expiresAt,
      }
    },
  }
}

/** A wallet's user is `eip155:<chain>:<address>`. */
function addressIn(userId: string): string {
  return userId.slice(userId.lastIndexOf(':') + 1)
}

/** The listing has the id that a file was staged under first; an upload is answered under its own. */
function urlUnder(url: string, stagedAs: string, cid: string): string {
  return url.endsWith(`/${stagedAs}`) ? url.slice(0, -stagedAs.length) + cid : url
}
