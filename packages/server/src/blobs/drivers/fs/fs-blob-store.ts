import { constants } from 'node:fs'
import { join, resolve } from 'node:path'
import { CHUNK_BYTES } from '@lade/node/hashing/chunk-digests'
import type { BlobStore } from '../../blob-store.ts'
import { BufferList } from '../../buffer-list.ts'
import { requireBlobName, requireHolder, requireSha256 } from '../../store-arguments.ts'
import { makeDirectory, makeDurably } from './directories.ts'
import { type Files, nodeFiles } from './files.ts'
import { FsBlobBody } from './fs-blob-body.ts'
import { isReadOnly, translated, unlessMissing } from './fs-failure.ts'
import { fsInstallation, isLeftInstallationFile } from './fs-installation.ts'
import { FsPendingBlob } from './fs-pending-blob.ts'
import { FsPendingDirectory } from './fs-pending-directory.ts'
import { deleteQuarantinedFiles, quarantineFile } from './fs-quarantine.ts'
import { resumeFsBlob } from './fs-resumable-blob.ts'
import { FsShards } from './fs-shards.ts'
import type { FsStoreParts } from './fs-store-parts.ts'
import { Headroom } from './headroom.ts'
import { Syncs } from './syncs.ts'
import { WriteWatch } from './write-watch.ts'

/** A chunk that is verified is one read, and the next one is read meanwhile. */
const READ_BUFFER_BYTES = 2 * CHUNK_BYTES
const READ_BUFFERS_KEPT = 16

/** Where the files are, and how much room must stay free. Sizes are bytes. */
export interface FsBlobStoreOptions {
  /** Where everything is kept, on one file system. Made when it is missing. */
  readonly dir: string
  /** What admission leaves free on that file system; reading and deleting work below it. */
  readonly minFreeBytes: number
  /** The system calls. @default Node's own */
  readonly files?: Files
}

/**
 * Blobs as files: `<dir>/<first two hex digits>/<sha256>`, `<dir>/pending/<holder>/<n>` on their way in, and
 * `<dir>/quarantine/<sha256>-<time in ms>` once they turned out to be wrong. `<dir>/installation.json` says whose they are.
 *
 * A commit is fsync of the file, close, rename, fsync of the directory, and of `dir` too when the shard directory is not
 * known to be durable: what it resolves for survives a power cut. A crash at any point leaves the whole blob or a file
 * in `pending`, which `sweepPending` removes. A commit that fails after its rename leaves the blob readable though
 * nobody was promised it; committing it again is safe.
 *
 * Several processes may share `dir`, each with a holder of its own. Digests are trusted, not computed.
 *
 * `check` reports a failed fsync until a later flush succeeds: a medium that lost a write once is not asked for more.
 *
 * @throws {LadeError} `storage_failed` when `dir` cannot be made or read.
 *
 * @example
 * const store = await openFsBlobStore({ dir: '/srv/lade/objects', minFreeBytes: 1_073_741_824 })
 * store.traits // { medium: 'fs', durable: true }
 */
export async function openFsBlobStore(options: FsBlobStoreOptions): Promise<BlobStore> {
  const { files = nodeFiles, minFreeBytes } = options
  const dir = resolve(options.dir)
  const syncs = new Syncs(files)
  const watch = new WriteWatch(files, dir)
  const headroom = new Headroom({ freeBytes: () => files.freeBytes(dir), minFreeBytes })
  const buffers = new BufferList({ bufferBytes: READ_BUFFER_BYTES, keepAtMost: READ_BUFFERS_KEPT })
  const shards = new FsShards({ files, syncs, dir })
  const pending = new FsPendingDirectory(files, dir)
  const parts: FsStoreParts = { files, syncs, dir, shards, pending }
  const confirmPresent = () => pending.confirmPresent()
  const installation = fsInstallation({ dir, files, syncs, confirmPresent })

  await translated(() => prepareDirectories(parts))

  async function openBody(sha256: string): Promise<FsBlobBody | undefined> {
    const fd = await unlessMissing(() => files.open(shards.pathOf(sha256), constants.O_RDONLY))
    if (fd === undefined) return confirmPresent()
    try {
      const file = await files.statOpen(fd)
      return new FsBlobBody({ files, fd, file, buffers, quarantine: (same) => quarantineFile(parts, sha256, same) })
    } catch (error) {
      await files.close(fd)
      throw error
    }
  }

  return {
    traits: { medium: 'fs', durable: true, keepsPuts: false, locatedMs: 0 },

    installation,

    begin: ({ holder, sizeBytes, principal }) =>
      translated(async () => {
        requireHolder(holder)
        const claim = await headroom.claim(sizeBytes, principal)
        try {
          const { path, file } = await watch.change(() => pending.create(holder, sizeBytes))
          return new FsPendingBlob({ files, syncs, path, file, claim, shards })
        } catch (error) {
          claim.release()
          throw error
        }
      }),

    resume: (options) =>
      translated(() => {
        requireHolder(options.holder)
        return resumeFsBlob({ ...parts, headroom, watch, buffers }, options)
      }),

    requireRoom: (sizeBytes) => translated(() => headroom.require(sizeBytes)),

    open: (sha256) =>
      translated(() => {
        requireSha256(sha256)
        return openBody(sha256)
      }),

    async locate(sha256) {
      requireSha256(sha256)
      return { kind: 'file', path: FsShards.placeOf(sha256) }
    },

    stat: (sha256) =>
      translated(async () => {
        requireSha256(sha256)
        const sizeBytes = await shards.sizeOf(sha256)
        return sizeBytes === undefined ? confirmPresent() : { sha256, put: '', sizeBytes }
      }),

    async *list({ after = '', limit = Number.POSITIVE_INFINITY } = {}) {
      const blobs = shards.list(after, limit)
      for (;;) {
        const next = await translated(() => blobs.next())
        if (next.done === true) return
        yield next.value
      }
    },

    delete: ({ sha256, put }, { signal } = {}) =>
      translated(async () => {
        requireBlobName({ sha256, put })
        signal?.throwIfAborted()
        // A put that has a name was never on this disk.
        if (put !== '') return
        await shards.remove(sha256)
        await confirmPresent()
      }),

    deleteQuarantined: (sha256) =>
      translated(async () => {
        requireSha256(sha256)
        return deleteQuarantinedFiles(parts, sha256)
      }),

    sweepPending: (holder) =>
      translated(() => {
        requireHolder(holder)
        return pending.sweep(holder)
      }),

    pendingHolders: () => translated(() => pending.holders()),

    check: () =>
      translated(async () => {
        if (syncs.failure !== undefined) throw syncs.failure
        await pending.confirmUsable()
        await files.freeBytes(dir)
        await files.readdir(dir)
        await installation.read()
        await watch.confirm()
      }),

    async close() {},
  }
}

/** Makes the directories and the names in them durable, and removes what a crash left beside them. */
async function prepareDirectories({ files, syncs, dir, shards, pending }: FsStoreParts): Promise<void> {
  await makeDurably(dir, { files, syncs })
  await makeDirectory(files, pending.path)
  const names = await files.readdir(dir)
  try {
    for (const name of names.filter(isLeftInstallationFile)) await unlessMissing(() => files.unlink(join(dir, name)))
    await syncs.directory(dir)
  } catch (error) {
    if (!isReadOnly(error)) throw error
    // Blobs are served all the same. Which names are durable is found out when something is written.
    return
  }
  shards.noteDurable(names)
}
