import { open, rm } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { LadeError } from '@lade/core/errors'
import { pieceCidV2 } from '@lade/core/piece'
import { FILE_MODE } from '../disk/durable-files.ts'
import { type HashedPiece, LevelHasher } from './level-hasher.ts'

/** Bytes that are durable and hashed, and that nobody can find yet. */
export interface PendingPiece extends HashedPiece {
  /** The CID that the bytes hash to, of version 2. */
  readonly pieceCid: string
  /** Where they lie. */
  readonly path: string
}

/** Limits of one body that is received. */
export interface IntakeLimits {
  /** The body is refused with its first byte beyond this. */
  readonly maxBytes: number
  /** How long the body may stand still. */
  readonly idleMs: number
}

/**
 * Writes a body to a new file and hashes it on the way. The file is flushed when this resolves, and gone when it fails.
 *
 * @param body - left where it is when it is refused, so that its connection can still be answered on.
 * @throws {LadeError} `too_large`, `body_timeout`, and `bad_request` for a body that was cut off.
 */
export async function receivePending(body: Readable, path: string, limits: IntakeLimits): Promise<PendingPiece> {
  const handle = await open(path, 'wx', FILE_MODE)
  try {
    const hasher = new LevelHasher()
    for await (const chunk of watched(body, limits)) {
      hasher.update(chunk)
      await writeAll(handle, chunk)
    }
    await handle.sync()
    await handle.close()
    const hashed = hasher.finish()
    return { ...hashed, pieceCid: pieceCidV2(hashed), path }
  } catch (error) {
    await handle.close()
    await rm(path, { force: true })
    throw error
  }
}

async function writeAll(handle: Awaited<ReturnType<typeof open>>, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, at, bytes.length - at)
    if (bytesWritten === 0) throw new Error('The file took no bytes.')
    at += bytesWritten
  }
}

/** The body's chunks, as long as it keeps to its limits. */
async function* watched(body: Readable, { maxBytes, idleMs }: IntakeLimits): AsyncGenerator<Uint8Array> {
  let receivedBytes = 0
  const chunks: AsyncIterator<Uint8Array> = body.iterator({ destroyOnReturn: false })
  for (;;) {
    const { done, value: chunk } = await nextWithin(idleMs, chunks, receivedBytes)
    if (done) return
    receivedBytes += chunk.length
    if (receivedBytes > maxBytes) throw new LadeError('too_large', { limit: maxBytes, size: receivedBytes })
    yield chunk
  }
}

async function nextWithin(
  idleMs: number,
  chunks: AsyncIterator<Uint8Array>,
  receivedBytes: number,
): Promise<IteratorResult<Uint8Array>> {
  const stalled = Promise.withResolvers<never>()
  const timer = setTimeout(() => stalled.reject(new LadeError('body_timeout', { receivedBytes })), idleMs)
  try {
    return await Promise.race([chunks.next(), stalled.promise])
  } catch (error) {
    if (LadeError.is(error)) throw error
    throw new LadeError('bad_request', { reason: 'The body was cut off.' }, { cause: error })
  } finally {
    clearTimeout(timer)
  }
}
