import type { IncomingMessage } from 'node:http'
import { type ContentId, parseContentId } from '@lade/core/content'
import { MAX_DIRECTORY_ENTRIES } from '@lade/core/dag'
import { LadeError } from '@lade/core/errors'
import { type DirectoryEntryRequest, type DirectoryRequest, HEADER } from '@lade/core/wire'
import { sha256Hex } from '@lade/node/hashing/sha256'
import type { AskedEntry } from '../../../directories/asked-links.ts'
import type { DirectoryHead } from '../../../directories/make-directory.ts'
import { singleHeader } from '../../framing.ts'
import { plainFileName } from '../../plain-file-name.ts'
import type { Query } from '../../query.ts'
import { cidOf, claimDigestOf, termDaysOf, visibilityOf } from '../uploads/upload-head.ts'

/** What a request makes: a directory of entries, or another one of a folder. */
export type AskedDirectory =
  | { readonly entries: readonly AskedEntry[] }
  | { readonly from: ContentId; readonly remove: readonly string[]; readonly put: readonly AskedEntry[] }

/**
 * Reads what the head of the request says, each field checked for its form.
 *
 * @throws {LadeError} `invalid_cid`, `invalid_visibility`, `invalid_term`, `bad_request`.
 */
export function readDirectoryHead(request: IncomingMessage, query: Query): Omit<DirectoryHead, 'filename'> {
  return {
    cid: query.get('cid') === undefined ? undefined : cidOf(query, 'refuse'),
    visibility: visibilityOf(singleHeader(request, HEADER.visibility)),
    termDays: termDaysOf(singleHeader(request, HEADER.termDays)),
    claimDigest: claimDigestOf(singleHeader(request, HEADER.claimDigest)),
  }
}

/** @throws {LadeError} `invalid_filename`. */
export function folderNameOf({ filename }: DirectoryRequest): string | null {
  return filename === undefined || filename === null ? null : plainFileName(filename)
}

/** @throws {LadeError} `bad_request`, `invalid_cid`. */
export function readAskedDirectory(body: DirectoryRequest): AskedDirectory {
  const { entries, from, remove = [], put = [] } = body
  const count = (entries?.length ?? 0) + remove.length + put.length
  if (count > MAX_DIRECTORY_ENTRIES) {
    const [found, limit] = [count, MAX_DIRECTORY_ENTRIES].map((amount) => amount.toLocaleString('en-US'))
    throw new LadeError('bad_request', {
      reason: `The request has ${found} entries; the limit is ${limit}. Make the folder with fewer, then add the others with from and put.`,
    })
  }
  if (from === undefined) {
    if (entries === undefined || body.remove !== undefined || body.put !== undefined) {
      throw new LadeError('bad_request', { reason: 'Send entries, or from with put and remove.' })
    }
    return { entries: readEntries(entries) }
  }
  if (entries !== undefined) throw new LadeError('bad_request', { reason: 'Send entries or from, not both.' })
  return { from: parseContentId(from, sha256Hex), remove, put: readEntries(put) }
}

function readEntries(entries: readonly DirectoryEntryRequest[]): AskedEntry[] {
  const known = new Map<string, ContentId>()
  return entries.map((entry) => {
    if ('kind' in entry) return entry
    const id = known.get(entry.cid) ?? readId(entry)
    known.set(entry.cid, id)
    return { kind: 'file', path: entry.path, id, isKept: entry.keep ?? true }
  })
}

function readId({ path, cid }: { readonly path: string; readonly cid: string }): ContentId {
  try {
    return parseContentId(cid, sha256Hex)
  } catch (error) {
    if (!LadeError.has(error, 'invalid_cid')) throw error
    const reason = `The entry ${JSON.stringify(path.slice(0, 80))} has no valid cid: ${error.evidence.reason}`
    throw new LadeError('bad_request', { reason })
  }
}
