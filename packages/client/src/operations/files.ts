import { LadeError } from '@lade/core/errors'
import type { EntriesPage, FileEntry, FileList, ShareResult, UploadResult, UsageResult } from '@lade/core/wire'
import { claimSecretBytes } from '../claim-secret.ts'
import type { Http } from '../http/http.ts'
import { type OptionNames, refuseUnknownOptions } from '../known-options.ts'
import type {
  CallOptions,
  ChangeFileOptions,
  ClaimOptions,
  EntriesOptions,
  FileListOptions,
  FilePageOptions,
  LadeClient,
  ShareOptions,
  UsageOptions,
} from '../options.ts'
import { allOf } from './pages.ts'

const PAGE_OPTIONS: OptionNames<FilePageOptions> = {
  cursor: true,
  limit: true,
  q: true,
  contentType: true,
  kind: true,
  endsWithinDays: true,
  status: true,
  signal: true,
}
const CHANGE_OPTIONS: OptionNames<ChangeFileOptions> = {
  visibility: true,
  contentType: true,
  filename: true,
  termDays: true,
  signal: true,
}
const CLAIM_OPTIONS: OptionNames<ClaimOptions> = { secret: true, signal: true }
const SHARE_OPTIONS: OptionNames<ShareOptions> = { ttlSeconds: true, signal: true }

export function fileOperations(http: Http): LadeClient['files'] {
  const page = async (options: FilePageOptions = {}) => {
    refuseUnknownOptions('files.page', options, PAGE_OPTIONS)
    const { signal, ...query } = options
    return http.json<FileList>({ path: '/api/files', query, signal })
  }
  return {
    page,
    list: (options: FileListOptions = {}) =>
      allOf(
        (cursor) => page({ ...options, cursor }),
        ({ files }) => files,
      ),
    entries(cid, { path, limit, signal }: EntriesOptions = {}) {
      const url = `${pathOf(cid)}/entries`
      return allOf(
        (cursor) => http.json<EntriesPage>({ path: url, query: { path, limit, cursor }, isOpen: true, signal }),
        ({ entries }) => entries,
      )
    },
    get: (cid, { signal }: CallOptions = {}) => http.json<FileEntry>({ path: pathOf(cid), signal }),
    remove: (cid, { signal }: CallOptions = {}) => removeFile(http, cid, signal),
    async change(cid, options: ChangeFileOptions) {
      refuseUnknownOptions('files.change', options, CHANGE_OPTIONS)
      const { signal, ...json } = options
      return http.json<FileEntry>({ method: 'PATCH', path: pathOf(cid), json, signal })
    },
    async claim(cid, options: ClaimOptions) {
      refuseUnknownOptions('files.claim', options, CLAIM_OPTIONS)
      const { secret, signal } = options
      claimSecretBytes(secret)
      return http.json<UploadResult>({ method: 'POST', path: `${pathOf(cid)}/claim`, json: { secret }, signal })
    },
    async share(cid, options: ShareOptions) {
      refuseUnknownOptions('files.share', options, SHARE_OPTIONS)
      const { ttlSeconds, signal } = options
      return http.json<ShareResult>({ method: 'POST', path: `${pathOf(cid)}/share`, json: { ttlSeconds }, signal })
    },
  }
}

export async function readUsage(http: Http, options: UsageOptions = {}): Promise<UsageResult> {
  refuseUnknownOptions('usage', options, { days: true, signal: true })
  const { days, signal } = options
  return http.json<UsageResult>({ path: '/api/usage', query: { days }, signal })
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
