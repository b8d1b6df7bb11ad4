import { LadeError } from '@lade/core/errors'
import type { FileEntry, FileList, ShareResult, UsageResult } from '@lade/core/wire'
import type { Http } from '../http/http.ts'
import type { CallOptions, FileListOptions, FilePageOptions, LadeClient, ShareOptions } from '../options.ts'
import { allOf } from './pages.ts'

export function fileOperations(http: Http): LadeClient['files'] {
  const page = ({ signal, ...query }: FilePageOptions = {}) =>
    http.json<FileList>({ path: '/api/files', query, signal })
  return {
    page,
    list: (options: FileListOptions = {}) =>
      allOf(
        (cursor) => page({ ...options, cursor }),
        ({ files }) => files,
      ),
    get: (cid, { signal }: CallOptions = {}) => http.json<FileEntry>({ path: pathOf(cid), signal }),
    remove: (cid, { signal }: CallOptions = {}) => removeFile(http, cid, signal),
    share: (cid, { ttlSeconds, signal }: ShareOptions) =>
      http.json<ShareResult>({ method: 'POST', path: `${pathOf(cid)}/share`, json: { ttlSeconds }, signal }),
  }
}

export function readUsage(http: Http, { signal }: CallOptions = {}): Promise<UsageResult> {
  return http.json<UsageResult>({ path: '/api/usage', signal })
}

async function removeFile(http: Http, cid: string, signal: AbortSignal | undefined): Promise<void> {
  let mayBeDone = false
  const onUnanswered = () => {
    mayBeDone = true
  }
  try {
    await http.json<FileEntry>({ method: 'DELETE', path: pathOf(cid), signal, onUnanswered })
  } catch (error) {
    // The attempt before, whose answer was lost, has removed it.
    const isRemoved = LadeError.has(error, 'gone') && error.evidence.reason === 'removed'
    if (!(mayBeDone && isRemoved)) throw error
  }
}

function pathOf(cid: string): string {
  return `/api/files/${encodeURIComponent(cid)}`
}
