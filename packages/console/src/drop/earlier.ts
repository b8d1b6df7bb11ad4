import type { UploadResult } from '@lade/client'
import { computed, signal } from '@preact/signals'
import { openStore } from '../app/storage.ts'

/** What this browser has uploaded without an account: nobody else knows the link of it. */
export interface EarlierUpload {
  readonly result: UploadResult
  readonly name: string
  readonly at: number
  /** Makes the file the account's of whoever signs in here later. */
  readonly claimSecret?: string
}

const store = openStore<EarlierUpload>('uploads')
/** Newest first. */
export const earlier = signal<readonly EarlierUpload[]>([])
/** Those that become an account's when somebody who has one asks for it. */
export const claimable = computed(() => earlier.value.filter(({ claimSecret }) => claimSecret !== undefined))

export async function loadEarlier(): Promise<void> {
  const all = await store.all()
  const ended = all.filter(({ result }) => Date.parse(result.expiresAt) < Date.now())
  for (const { result } of ended) await store.remove(result.cid)
  earlier.value = all.filter((one) => !ended.includes(one)).toSorted((one, other) => other.at - one.at)
}

export async function keepUpload(upload: EarlierUpload): Promise<void> {
  const { cid } = upload.result
  const before = await store.get(cid)
  // The service keeps the claim that came first.
  const claimSecret = before?.claimSecret ?? upload.claimSecret
  const kept = { ...upload, ...(claimSecret !== undefined && { claimSecret }) }
  earlier.value = [kept, ...earlier.value.filter(({ result }) => result.cid !== cid)]
  await store.put(cid, kept)
}

/** Keeps the link of a file that this browser cannot claim after all. */
export async function forgetClaim(cid: string): Promise<void> {
  const found = earlier.value.find(({ result }) => result.cid === cid)
  if (found === undefined) return
  const { claimSecret: _, ...rest } = found
  earlier.value = earlier.value.map((one) => (one === found ? rest : one))
  await store.put(cid, rest)
}

export async function forgetUpload(cid: string): Promise<void> {
  earlier.value = earlier.value.filter(({ result }) => result.cid !== cid)
  await store.remove(cid)
}
