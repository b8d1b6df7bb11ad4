import type { FileEntry } from '@lade/client'
import { openClient } from '../app/client.ts'
import { dropFile, replaceFile } from './file-list.ts'

/** What can be done with a file. Each shows the file as it is afterwards, and rejects with what the service refuses. */
export async function changeFile(
  cid: string,
  change: { visibility?: 'public' | 'private'; filename?: string | null; contentType?: string },
): Promise<FileEntry> {
  const entry = await (await openClient(true)).files.change(cid, change)
  replaceFile(entry)
  return entry
}

export async function extendFile({ cid, dealId }: FileEntry, days: number): Promise<FileEntry> {
  const client = await openClient(true)
  await client.deals.extend(dealId, { days })
  const entry = await client.files.get(cid)
  replaceFile(entry)
  return entry
}

export async function removeFile(cid: string): Promise<void> {
  await (await openClient(true)).files.remove(cid)
  dropFile(cid)
}

export async function shareFile(cid: string, ttlSeconds: number): Promise<{ url: string; expiresAt: string }> {
  return (await openClient(true)).files.share(cid, { ttlSeconds })
}
