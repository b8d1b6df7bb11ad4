import { sha256Hex } from '@lade/node/hashing/sha256'
import type { BlobStore } from './blob-store.ts'

/** Whose pending place the probe is in on its way. */
const PROBE_HOLDER = 'probe'

/**
 * Puts a blob, reads it, and removes it, by the ways that every upload goes.
 *
 * @param bytes - such as nobody else ever stages, since they are removed in the end.
 * @returns what the store did wrong, as the end of the sentence "The storage …"; undefined when it is good.
 * @throws {LadeError} `storage_failed`, `insufficient_storage`.
 */
export async function probeStore(store: BlobStore, bytes: Uint8Array): Promise<string | undefined> {
  const sha256 = sha256Hex(bytes)
  const pending = await store.begin({ holder: PROBE_HOLDER, sizeBytes: bytes.length, expected: sha256 })
  try {
    await pending.write(bytes)
    await pending.flush()
    await pending.commit(sha256)
    return (await isKept(store, sha256, bytes)) ? undefined : 'returned different bytes than were written to it'
  } finally {
    await pending.abort()
    await store.delete({ sha256, put: pending.put })
    await store.sweepPending(PROBE_HOLDER)
  }
}

async function isKept(store: BlobStore, sha256: string, bytes: Uint8Array): Promise<boolean> {
  const body = await store.open(sha256)
  if (body === undefined) return false
  const chunks: Uint8Array[] = []
  try {
    for await (const chunk of body.chunks()) chunks.push(Uint8Array.from(chunk))
  } finally {
    await body.close()
  }
  return Buffer.concat(chunks).equals(bytes)
}
