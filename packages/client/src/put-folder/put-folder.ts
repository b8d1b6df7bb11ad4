import { buildDirectory, type PathEntry } from '@lade/core/dag'
import { LadeError } from '@lade/core/errors'
import type { DirectoryEntryRequest, DirectoryRequest, UploadResult } from '@lade/core/wire'
import { CID } from 'multiformats/cid'
import type { FolderSource, PutEntry, PutFolderOptions, PutFolderResult } from '../folder-options.ts'
import { requireDayQuota } from '../put/day-quota.ts'
import type { PutContext } from '../put/job.ts'
import type { FolderJob, MissingFile } from './folder-job.ts'
import { FolderState } from './folder-state.ts'
import { dagBytesOf, hashFiles } from './hash-files.ts'
import { openFolder } from './open-folder.ts'
import { readFolderJob } from './read-folder-job.ts'
import { sendMissing } from './send-missing.ts'
import type { SourceFile, SourceItem } from './source-item.ts'

/** A file that was sent, and is still missing: it may have been removed meanwhile. */
const MAX_SENDS = 3
/** In place of CIDs that are not known yet. */
const ANY_CID = CID.parse('bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku')

/** See `LadeClient.putFolder`. */
export async function putFolder(
  context: PutContext,
  source: FolderSource,
  options: PutFolderOptions = {},
): Promise<PutFolderResult> {
  options.signal?.throwIfAborted()
  const job = readFolderJob(context, options)
  const { group } = job
  try {
    return await run(job, source)
  } catch (error) {
    group.fail(error)
    // What it throws is the first failure, and no task is left behind.
    await group.settle()
    throw error
  } finally {
    group.close()
  }
}

async function run(job: FolderJob, source: FolderSource): Promise<PutFolderResult> {
  const { options, meter, kept, signal } = job
  const { hidden = false, onLeftOut } = options
  const folder = await openFolder(job.platform, source, { hidden, onLeftOut })
  const items = await list(job, folder.items)
  meter.enter('hashing')
  const state = await FolderState.load(options.state)
  const files = items.filter((item) => item.kind === 'file')
  const cids = await hashFiles(job, files, { state, meter, kept, signal })
  await state.save()
  const cidOf = new Map(files.map((file, place) => [file, cids[place] ?? '']))
  const { root } = buildDirectory({ entries: items.map((item) => entryOf(item, cidOf)), sha256: job.platform.sha256 })
  meter.enter('sending')
  const byCid = new Map(files.map((file, place) => [cids[place] ?? '', file]))
  const filename = options.filename === undefined ? folder.name : options.filename
  try {
    const made = await make(job, { root, items, cidOf, byCid, filename, state })
    await state.noteMade()
    meter.enter('done')
    const { files: sentFiles, bytes: sentBytes } = meter.sent
    const foundFiles = files.length - sentFiles
    const entries = items.map((item) => putEntryOf(item, cidOf))
    return { ...made, files: files.length, sentFiles, sentBytes, foundFiles, entries }
  } catch (error) {
    // What was kept is of bytes that are not there any more.
    if (LadeError.has(error, 'source_changed') || LadeError.has(error, 'cid_mismatch')) await state.forget()
    throw error
  }
}

/** What is in the folder. What no folder can hold is refused before anything is read. */
async function list(
  { meter, signal, platform }: FolderJob,
  listed: AsyncIterable<SourceItem> | Iterable<SourceItem>,
): Promise<readonly SourceItem[]> {
  const items: SourceItem[] = []
  for await (const item of listed) {
    signal.throwIfAborted()
    items.push(item)
    if (item.kind === 'file') meter.listed(item.sizeBytes)
  }
  const entries = items.map((item) => entryOf(item, new Map()))
  buildDirectory({ entries, sha256: platform.sha256 })
  return items
}

interface Folder {
  readonly root: CID
  readonly items: readonly SourceItem[]
  readonly cidOf: ReadonlyMap<SourceItem, string>
  readonly byCid: ReadonlyMap<string, SourceFile>
  readonly filename: string | null | undefined
  readonly state: FolderState
}

/** Has the service make the folder, and sends what it says is missing, until nothing is. */
async function make(job: FolderJob, folder: Folder): Promise<UploadResult> {
  const { byCid, state } = folder
  const sends = new Map<string, number>()
  for (;;) {
    try {
      return await ask(job, folder)
    } catch (error) {
      if (!LadeError.has(error, 'missing_entries')) throw error
      const missing = missingOf(error.evidence.missing, byCid)
      for (const { cid } of missing) sends.set(cid, (sends.get(cid) ?? 0) + 1)
      // It does not say what is missing, or nothing helps.
      if (missing.length === 0 || missing.some(({ cid }) => (sends.get(cid) ?? 0) > MAX_SENDS)) throw error
      const bytes = missing.reduce((sum, { source }) => sum + source.sizeBytes, 0)
      await requireDayQuota(job, bytes)
      await state.noteSending(missing.map(({ cid }) => cid))
      job.meter.missing(missing.length, bytes)
      job.kept.keepOnly(missing.map(({ source }) => source))
      await sendMissing(job, missing)
    }
  }
}

function missingOf(cids: readonly string[], byCid: ReadonlyMap<string, SourceFile>): readonly MissingFile[] {
  return [...new Set(cids)].flatMap((cid) => {
    const source = byCid.get(cid)
    return source === undefined ? [] : [{ cid, source }]
  })
}

async function ask(
  { http, keeping, claiming, signal }: FolderJob,
  { root, items, cidOf, filename, state }: Folder,
): Promise<UploadResult> {
  const entries = items.map((item): DirectoryEntryRequest => {
    if (item.kind === 'symlink') return { path: item.path, kind: 'symlink', target: item.target }
    if (item.kind === 'folder') return { path: item.path, kind: 'folder' }
    const cid = cidOf.get(item) ?? ''
    return { path: item.path, cid, ...(state.wasSent(cid) && { keep: false }) }
  })
  const json: DirectoryRequest = { entries, ...(filename !== undefined && { filename }) }
  const query = { cid: root.toString() }
  const headers = { ...keeping, ...claiming }
  return http.json<UploadResult>({ method: 'POST', path: '/api/directories', query, headers, json, signal })
}

function entryOf(item: SourceItem, cidOf: ReadonlyMap<SourceItem, string>): PathEntry {
  if (item.kind !== 'file') return item
  const { path, sizeBytes } = item
  const cid = cidOf.get(item)
  return {
    path,
    kind: 'file',
    cid: cid === undefined ? ANY_CID : CID.parse(cid),
    dagBytes: dagBytesOf(sizeBytes),
    sizeBytes,
  }
}

function putEntryOf(item: SourceItem, cidOf: ReadonlyMap<SourceItem, string>): PutEntry {
  if (item.kind !== 'file') return item
  return { kind: 'file', path: item.path, cid: cidOf.get(item) ?? '', sizeBytes: item.sizeBytes }
}
