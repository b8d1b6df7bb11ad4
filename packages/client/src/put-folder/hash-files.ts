import { aliasesOf } from '@lade/core/content'
import { DagLayout, IMPORT_PROFILES } from '@lade/core/dag/import'
import { bytesToHex } from '@noble/hashes/utils.js'
import type { HashWants } from '../hashing/hash-wants.ts'
import { openHashing } from '../hashing/open-hashing.ts'
import { unixfsCidOf } from '../hashing/whole-digests.ts'
import type { PutContext } from '../put/job.ts'
import { Slots } from '../put/slots.ts'
import type { FolderMeter } from './folder-meter.ts'
import type { FolderState } from './folder-state.ts'
import type { KeptBytes } from './kept-bytes.ts'
import { changed, readWhole } from './read-whole.ts'
import type { SourceFile } from './source-item.ts'

const PROFILE = IMPORT_PROFILES['unixfs-v1-2025']
const WANTS: HashWants = { leaves: ['raw-1m'], sha256: false, blake3: false, blake2b256: false, piece: false }
/** Small files are read side by side, since opening and closing them takes longer than hashing. */
const SMALL_AT_ONCE = 8
/** Large ones keep a thread busy each. */
const LARGE_AT_ONCE = 2
/** How often what was hashed is saved. */
const SAVE_INTERVAL_MS = 30_000

/** True for a file that is one raw block, as `unixfs-v1-2025` imports it. */
export function isOneBlock({ sizeBytes }: Pick<SourceFile, 'sizeBytes'>): boolean {
  return sizeBytes <= PROFILE.chunkBytes
}

/** The bytes of all blocks of a file: its Tsize. */
export function dagBytesOf(sizeBytes: number): number {
  const layout = new DagLayout(PROFILE, sizeBytes)
  return layout.node(layout.nodeCount - 1).dagBytes
}

export interface HashFilesOptions {
  readonly state: FolderState
  readonly meter: FolderMeter
  /** Gets the bytes of small files. */
  readonly kept: KeptBytes
  readonly signal: AbortSignal
}

/**
 * The CIDs of files, in their order. A file that is what it was at an earlier put is not read.
 *
 * @throws {LadeError} `source_changed`. @throws the reason of the signal, and what reading ends by.
 */
export async function hashFiles(
  context: PutContext,
  files: readonly SourceFile[],
  { state, meter, kept, signal }: HashFilesOptions,
): Promise<readonly string[]> {
  const cids: string[] = []
  const large = new Slots(LARGE_AT_ONCE)
  let savedAt = performance.now()
  let failure: { readonly error: unknown } | undefined
  const queue = files.entries()
  const work = async (): Promise<void> => {
    for (const [place, file] of queue) {
      if (failure !== undefined) return
      signal.throwIfAborted()
      const cid = state.cidOf(file) ?? (await hashOne(context, file, { large, kept, signal }))
      cids[place] = cid
      state.learn(file, cid)
      meter.hashed(file.sizeBytes)
      if (performance.now() - savedAt < SAVE_INTERVAL_MS) continue
      savedAt = performance.now()
      await state.save()
    }
  }
  const guarded = () =>
    work().catch((error: unknown) => {
      failure ??= { error }
    })
  await Promise.all(Array.from({ length: SMALL_AT_ONCE }, guarded))
  if (failure !== undefined) throw (failure as { readonly error: unknown }).error
  return cids
}

async function hashOne(
  context: PutContext,
  file: SourceFile,
  { large, kept, signal }: { readonly large: Slots; readonly kept: KeptBytes; readonly signal: AbortSignal },
): Promise<string> {
  const { platform } = context
  if (isOneBlock(file)) {
    const bytes = await readWhole(file, platform.readFile)
    const digest = await platform.digest(bytes)
    kept.keep(file, bytes)
    return aliasesOf(bytesToHex(digest)).cidV1
  }
  const release = await large.take(signal)
  try {
    return await hashLarge(context, file, signal)
  } finally {
    release()
  }
}

async function hashLarge({ platform, threads }: PutContext, file: SourceFile, signal: AbortSignal): Promise<string> {
  const source = await file.open()
  try {
    const { sizeBytes } = source
    if (sizeBytes !== file.sizeBytes || source.fingerprint !== file.fingerprint) throw changed(file.path)
    const slice = source.slice(0, sizeBytes)
    const hashing = await openHashing(platform, { wants: WANTS, sizeBytes, sample: slice, threads })
    const close = () => hashing.close()
    signal.addEventListener('abort', close, { once: true })
    try {
      signal.throwIfAborted()
      const digests = await hashing.part(slice, () => {})
      await source.check()
      return unixfsCidOf(digests, platform.sha256)
    } catch (error) {
      signal.throwIfAborted()
      throw error
    } finally {
      signal.removeEventListener('abort', close)
      close()
    }
  } finally {
    await source.close()
  }
}
