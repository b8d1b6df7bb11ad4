import type { PutState } from '@lade/client'
import { signal } from '@preact/signals'
import { openStore } from '../app/storage.ts'
import type { ChosenFolder } from './chosen-folder.ts'

/** A file or folder that was being sent when the page was closed. The page cannot open it again by itself. */
export interface Unfinished {
  /** Tells it from others, as far as a page can. */
  readonly fingerprint: string
  readonly name: string
  readonly sizeBytes: number
  /** Of a folder: how many files are in it. */
  readonly folder?: { readonly files: number } | undefined
  readonly at: number
  /** What the client has hashed of it. */
  readonly kept?: string
  /** The secret that the file is sent with, so that it stays the same when it is sent again. */
  readonly claimSecret?: string
}

const store = openStore<Unfinished>('unfinished')
/** Those of earlier visits, newest first. */
export const unfinished = signal<readonly Unfinished[]>([])
/** After this time the parts of it have ended, too. */
const MAX_AGE_MS = 7 * 86_400_000

export async function loadUnfinished(): Promise<void> {
  const all = await store.all()
  const old = all.filter(({ at }) => at < Date.now() - MAX_AGE_MS)
  for (const { fingerprint } of old) await store.remove(fingerprint)
  unfinished.value = all.filter((one) => !old.includes(one)).toSorted((one, other) => other.at - one.at)
}

/** What is told from others by its fingerprint, which is the same when it is chosen again. */
export type Known = Pick<Unfinished, 'fingerprint' | 'name' | 'sizeBytes' | 'folder'>

/** The same for the same file, chosen again. */
export function fingerprintOf(file: File): string {
  return `${file.size} ${file.lastModified} ${file.name}`
}

/** The same for the same folder, unless a file was added, removed, or changed in size or time. */
export function folderFingerprint({ name, files, sizeBytes, items }: ChosenFolder): string {
  const times = items.map((item) => ('file' in item && item.file instanceof File ? item.file.lastModified : 0))
  return `folder ${files} ${sizeBytes} ${times.reduce((last, time) => Math.max(last, time), 0)} ${name}`
}

/** Notes that something is being sent, and takes it off the list of earlier visits. */
export async function beginUnfinished(known: Known): Promise<void> {
  const { fingerprint } = known
  unfinished.value = unfinished.value.filter((one) => one.fingerprint !== fingerprint)
  await store.put(fingerprint, { ...(await recordOf(known)), at: Date.now() })
}

/** The secret of an upload: that of an earlier attempt, or else a new one. */
export async function claimSecretOf(known: Known, create: () => string): Promise<string> {
  const record = await recordOf(known)
  const claimSecret = record.claimSecret ?? create()
  await store.put(record.fingerprint, { ...record, claimSecret })
  return claimSecret
}

async function recordOf({ fingerprint, name, sizeBytes, folder }: Known): Promise<Unfinished> {
  const empty = { fingerprint, name, sizeBytes, at: Date.now(), ...(folder !== undefined && { folder }) }
  return (await store.get(fingerprint)) ?? empty
}

export async function forgetUnfinished(fingerprint: string): Promise<void> {
  unfinished.value = unfinished.value.filter((one) => one.fingerprint !== fingerprint)
  await store.remove(fingerprint)
}

/** Where the client keeps what it has hashed of a file or of the files of a folder. */
export function keptStateOf(known: Known): PutState {
  const { fingerprint } = known
  const change = async (kept: string | undefined) => {
    const { kept: _, ...rest } = await recordOf(known)
    await store.put(fingerprint, { ...rest, ...(kept !== undefined && { kept }) })
  }
  return {
    load: async () => (await store.get(fingerprint))?.kept,
    save: change,
    clear: () => change(undefined),
  }
}
