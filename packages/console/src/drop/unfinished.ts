import type { PutState } from '@lade/client'
import { signal } from '@preact/signals'
import { openStore } from '../app/storage.ts'

/** A file that was being sent when the page was closed. The page cannot open it again by itself. */
export interface Unfinished {
  /** Tells the file from others, as far as a page can. */
  readonly fingerprint: string
  readonly name: string
  readonly sizeBytes: number
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

/** The same for the same file, chosen again. */
export function fingerprintOf(file: File): string {
  return `${file.size} ${file.lastModified} ${file.name}`
}

/** Notes that a file is being sent, and takes it off the list of earlier visits. */
export async function beginUnfinished(file: File): Promise<void> {
  const fingerprint = fingerprintOf(file)
  unfinished.value = unfinished.value.filter((one) => one.fingerprint !== fingerprint)
  await store.put(fingerprint, { ...(await recordOf(file)), at: Date.now() })
}

/** The secret of a file: that of an earlier attempt, or else a new one. */
export async function claimSecretOf(file: File, create: () => string): Promise<string> {
  const record = await recordOf(file)
  const claimSecret = record.claimSecret ?? create()
  await store.put(record.fingerprint, { ...record, claimSecret })
  return claimSecret
}

async function recordOf(file: File): Promise<Unfinished> {
  const fingerprint = fingerprintOf(file)
  const empty = { fingerprint, name: file.name, sizeBytes: file.size, at: Date.now() }
  return (await store.get(fingerprint)) ?? empty
}

export async function forgetUnfinished(fingerprint: string): Promise<void> {
  unfinished.value = unfinished.value.filter((one) => one.fingerprint !== fingerprint)
  await store.remove(fingerprint)
}

/** Where the client keeps what it has hashed of a file. */
export function keptStateOf(file: File): PutState {
  const fingerprint = fingerprintOf(file)
  const change = async (kept: string | undefined) => {
    const { kept: _, ...rest } = await recordOf(file)
    await store.put(fingerprint, { ...rest, ...(kept !== undefined && { kept }) })
  }
  return {
    load: async () => (await store.get(fingerprint))?.kept,
    save: change,
    clear: () => change(undefined),
  }
}
