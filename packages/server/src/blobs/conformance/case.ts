import { sha256Hex } from '@lade/node/hashing/sha256'
import { expect } from 'vitest'
import type { BlobBody, BlobStore, ByteRange, OpenBlob, PendingBlob } from '../blob-store.ts'

/** A store under test, and what the suite may do to it. */
export interface BlobStoreSubject {
  /** Opens an empty store, before every test. */
  open(): Promise<BlobStore>
  /** Closes it and removes what it stored. */
  discard(store: BlobStore): Promise<void>
  /** Opens the same data again, as after a restart; the old store is not used again. Absent for volatile stores. */
  reopen?(store: BlobStore): Promise<BlobStore>
  /** Makes the medium fail on the next call: EIO, permission, reset, 503. */
  breakNext?(store: BlobStore): void
  /** Descriptors or connections that are open now. */
  openHandles?(store: BlobStore): number
  /** A size at which this store splits what it writes or reads; bodies around it are tried. */
  boundaryBytes?: number
  /**
   * How much of a pending blob this store may keep in memory, where the medium's failures and a restart do not reach it, until
   * its commit. The cases about those use blobs that are larger. @default 0
   */
  heldBackBytes?: number
  /** Gaps this store admits to, by exact test title. A gap that passes is a failure. */
  gaps?: readonly { readonly test: string; readonly because: string }[]
}

/** What a case works on. A case that reopens the store puts the new one here, so that it is the one discarded. */
export interface BlobFixture {
  store: BlobStore
  readonly subject: BlobStoreSubject
}

/** One behaviour that every store must show. */
export interface ConformanceCase {
  /** The behaviour, as a sentence; the name by which a gap is admitted. */
  readonly title: string
  /** Hooks of the subject without which the case says nothing. */
  readonly needs?: readonly ('reopen' | 'breakNext' | 'openHandles')[]
  run(fixture: BlobFixture): Promise<void>
}

export const HOLDER = 'instance-1'
export const ABSENT = sha256Hex(Buffer.from('stored nowhere'))

/** Bytes that know their digest. */
export interface SampleBlob {
  readonly bytes: Uint8Array
  readonly sha256: string
}

export function blobOf(content: string | Uint8Array): SampleBlob {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  return { bytes, sha256: sha256Hex(bytes) }
}

/** Starts `blob` and writes it, in one write or in pieces of `pieceBytes`. */
export async function write(store: BlobStore, blob: SampleBlob, pieceBytes = blob.bytes.length): Promise<PendingBlob> {
  const pending = await store.begin({ holder: HOLDER, sizeBytes: blob.bytes.length })
  for (let offset = 0; offset < blob.bytes.length; offset += pieceBytes) {
    await pending.write(blob.bytes.subarray(offset, offset + pieceBytes))
  }
  return pending
}

export async function put(store: BlobStore, blob: SampleBlob, pieceBytes?: number): Promise<void> {
  const pending = await write(store, blob, pieceBytes)
  await pending.flush()
  await pending.commit(blob.sha256)
}

/** All of a window, copied out of the store's own buffers. */
export async function collect(body: BlobBody, range?: ByteRange): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body.chunks(range)) chunks.push(Uint8Array.from(chunk))
  return Buffer.concat(chunks)
}

export async function opened(store: BlobStore, sha256: string): Promise<OpenBlob> {
  const body = await store.open(sha256)
  if (body === undefined) throw new Error(`The store holds nothing under ${sha256}.`)
  return body
}

/** Puts away what is under the digest now. */
export async function quarantine(store: BlobStore, sha256: string): Promise<void> {
  const blob = await opened(store, sha256)
  expect(await blob.quarantine()).toBe(true)
  await blob.close()
}

export async function get(store: BlobStore, sha256: string, range?: ByteRange): Promise<Uint8Array> {
  const body = await opened(store, sha256)
  try {
    return await collect(body, range)
  } finally {
    await body.close()
  }
}

/** The digests that are there, each once. */
export async function listed(store: BlobStore, options?: { after?: string; limit?: number }): Promise<string[]> {
  const digests = new Set<string>()
  for await (const { sha256 } of store.list(options)) digests.add(sha256)
  return [...digests]
}

/** Removes whatever was put under the digest, be it nothing. */
export async function remove(
  store: BlobStore,
  sha256: string,
  options?: { readonly signal?: AbortSignal },
): Promise<void> {
  do await store.delete((await store.stat(sha256)) ?? { sha256, put: '' }, options)
  while ((await store.stat(sha256)) !== undefined)
}

/** Expects equality of bytes without printing megabytes when it fails. */
export function expectBytes(actual: Uint8Array, expected: Uint8Array): void {
  expect(actual.length).toBe(expected.length)
  expect(sha256Hex(actual)).toBe(sha256Hex(expected))
}

export async function expectInvisible(store: BlobStore, sha256: string): Promise<void> {
  expect(await store.stat(sha256)).toBeUndefined()
  expect(await store.open(sha256)).toBeUndefined()
  expect(await listed(store)).not.toContain(sha256)
}
