import { type BigIntStats, createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { LadeError } from '@lade/core/errors'
import type { KnownSource } from '../known-source.ts'

/**
 * Opens a file to be put. What is no regular file, such as a pipe, is given as a stream.
 *
 * @throws {Error} the system's own when it cannot be opened or is a directory.
 */
export async function openPath(path: string | URL): Promise<KnownSource | AsyncIterable<Uint8Array>> {
  const file = path instanceof URL ? fileURLToPath(path) : path
  const handle = await open(file, 'r')
  try {
    const stat = await handle.stat({ bigint: true })
    if (stat.isFile()) return sourceOf(handle, stat, basename(file))
  } catch (error) {
    await handle.close()
    throw error
  }
  await handle.close()
  // For a directory, the first read says so.
  return createReadStream(file)
}

/**
 * Opens a regular file to be put.
 *
 * @throws {LadeError} `source_changed` when it is none any more.
 * @throws {Error} the system's own when it cannot be opened.
 */
export async function openFile(path: string): Promise<KnownSource> {
  const source = await openPath(path)
  if ('sizeBytes' in source) return source
  throw new LadeError('source_changed', { reason: `${path} is no longer a regular file.` })
}

function sourceOf(handle: FileHandle, opened: BigIntStats, name: string): KnownSource {
  const fingerprint = fingerprintOf(opened)
  return {
    sizeBytes: Number(opened.size),
    name,
    contentType: undefined,
    fingerprint,
    slice: (offsetBytes, sizeBytes) => ({ kind: 'file', fd: handle.fd, offsetBytes, sizeBytes }),
    async check() {
      if (fingerprintOf(await handle.stat({ bigint: true })) !== fingerprint) {
        throw new LadeError('source_changed', {
          reason: 'The size or modification time of the file changed during the upload. Upload it again.',
        })
      }
    },
    close: () => handle.close(),
  }
}

/** The time of the last change of the inode is there too: the other one can be set at will. */
export function fingerprintOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ')
}
