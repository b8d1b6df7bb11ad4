import { constants } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { CHUNK_BYTES } from '@lade/node/hashing/chunk-digests'
import type { BlobInfo, BlobStore } from '../../blob-store.ts'
import { BufferList } from '../../buffer-list.ts'
import { isSha256, requireBlobName, requireHolder, requireSha256 } from '../../store-arguments.ts'
import { type Files, nodeFiles, type OpenFile } from './files.ts'
import { FsBlobBody } from './fs-blob-body.ts'
import { hasErrno, isReadOnly, translated, unlessMissing } from './fs-failure.ts'
import { fsInstallation, isLeftInstallationFile } from './fs-installation.ts'
import { FsPendingBlob } from './fs-pending-blob.ts'
import { Headroom } from './headroom.ts'
import { PendingFile } from './pending-file.ts'
import { Syncs } from './syncs.ts'
import { WriteWatch } from './write-watch.ts'

/** A chunk that is verified is one read. */
const READ_BUFFER_BYTES = CHUNK_BYTES
const READ_BUFFERS_KEPT = 16

/** Blobs are the service's alone: other accounts of the machine neither list nor read them. */
const DIRECTORY_MODE = 0o700
const FILE_MODE = 0o600

const SHARD = /^[0-9a-f]{2}$/

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
  const pendingDir = join(dir, 'pending')
  const quarantineDir = join(dir, 'quarantine')
  const syncs = new Syncs(files)
  const watch = new WriteWatch(files, dir)
  const headroom = new Headroom({ freeBytes: () => files.freeBytes(dir), minFreeBytes })
  const buffers = new BufferList({ bufferBytes: READ_BUFFER_BYTES, keepAtMost: READ_BUFFERS_KEPT })
  const durableShards = await translated(prepare)
  let pendingCount = 0

  const shardDir = (sha256: string) => join(dir, sha256.slice(0, 2))
  const blobPath = (sha256: string) => join(shardDir(sha256), sha256)

  /** Makes the directories and the names in them durable; answers the shards that are there. */
  async function prepare(): Promise<Set<string>> {
    await makeDurably(dir, { files, syncs })
    await makeDirectory(files, pendingDir)
    const names = await files.readdir(dir)
    const shards = names.filter((name) => SHARD.test(name))
    try {
      for (const name of names.filter(isLeftInstallationFile)) await unlessMissing(() => files.unlink(join(dir, name)))
      await syncs.directory(dir)
    } catch (error) {
      if (!isReadOnly(error)) throw error
      // What is there is served; which names are durable is found out when something is written.
      return new Set()
    }
    return new Set(shards)
  }

  async function publish(pendingPath: string, sha256: string): Promise<void> {
    const shard = sha256.slice(0, 2)
    const isShardDurable = durableShards.has(shard)
    if (!isShardDurable) await makeDirectory(files, shardDir(sha256))
    try {
      await files.rename(pendingPath, blobPath(sha256))
    } catch (error) {
      // Somebody may have removed the directory: the next blob makes it again.
      if (hasErrno(error, 'ENOENT')) durableShards.delete(shard)
      throw error
    }
    await syncs.directory(shardDir(sha256))
    if (!isShardDurable) {
      await syncs.directory(dir)
      durableShards.add(shard)
    }
  }

  /** A new file in the holder's pending place, whatever an earlier process left there. */
  async function openPending(holder: string, sizeBytes: number): Promise<{ path: string; file: PendingFile }> {
    const holderDir = join(pendingDir, holder)
    let hasMadeHolderDir = false
    let path = join(holderDir, String(pendingCount++))
    for (;;) {
      try {
        return { path, file: await PendingFile.create({ files, path, mode: FILE_MODE, sizeBytes }) }
      } catch (error) {
        if (hasErrno(error, 'EEXIST')) {
          path = join(holderDir, String(pendingCount++))
        } else if (hasErrno(error, 'ENOENT') && !hasMadeHolderDir) {
          await makeDirectory(files, holderDir)
          hasMadeHolderDir = true
        } else {
          throw error
        }
      }
    }
  }

  /** An unmounted disk has no files either: nothing is absent from a store that is not there. */
  async function confirmPresent(): Promise<undefined> {
    await files.sizeOf(pendingDir)
    return undefined
  }

  async function openBody(sha256: string): Promise<FsBlobBody | undefined> {
    const fd = await unlessMissing(() => files.open(blobPath(sha256), constants.O_RDONLY))
    if (fd === undefined) return confirmPresent()
    try {
      const quarantine = (file: OpenFile) => putAway(sha256, file)
      return new FsBlobBody({ files, fd, file: await files.statOpen(fd), buffers, quarantine })
    } catch (error) {
      await files.close(fd)
      throw error
    }
  }

  async function* listBlobs(after: string, limit: number): AsyncGenerator<BlobInfo> {
    const shards = (await files.readdir(dir)).filter((name) => SHARD.test(name) && name >= after.slice(0, 2)).sort()
    let left = limit
    for (const shard of shards) {
      const names = (await unlessMissing(() => files.readdir(join(dir, shard)))) ?? []
      for (const sha256 of names.filter((name) => isSha256(name) && name > after).sort()) {
        if (left <= 0) return
        const sizeBytes = await unlessMissing(() => files.sizeOf(blobPath(sha256)))
        if (sizeBytes === undefined) continue
        left -= 1
        yield { sha256, put: '', sizeBytes }
      }
    }
  }

  async function fileAt(path: string): Promise<OpenFile | undefined> {
    const fd = await unlessMissing(() => files.open(path, constants.O_RDONLY))
    if (fd === undefined) return undefined
    try {
      return await files.statOpen(fd)
    } finally {
      await files.close(fd)
    }
  }

  /** Moves a blob away, if it is still this file as it was, to a name that is durable when it resolves. */
  async function putAway(sha256: string, { version, inode }: OpenFile): Promise<boolean> {
    const path = blobPath(sha256)
    // Before the directory is made: the place of an unmounted disk is to stay empty.
    await confirmPresent()
    if ((await fileAt(path))?.version !== version) return false
    await makeDirectory(files, quarantineDir)
    await syncs.directory(dir)
    const place = join(quarantineDir, `${sha256}-${Date.now()}`)
    if ((await unlessMissing(() => files.rename(path, place).then(() => true))) === undefined) return false
    const isWrongOne = (await fileAt(place))?.inode === inode
    // Committed between the look and the move: it goes back to where it was promised.
    if (!isWrongOne) await files.rename(place, path)
    await syncs.directory(quarantineDir)
    await syncs.directory(shardDir(sha256))
    return isWrongOne
  }

  const installation = fsInstallation({ dir, files, syncs, confirmPresent })

  return {
    traits: { medium: 'fs', durable: true, keepsPuts: false, locatedMs: 0 },

    installation,

    begin: ({ holder, sizeBytes, principal }) =>
      translated(async () => {
        requireHolder(holder)
        const claim = await headroom.claim(sizeBytes, principal)
        try {
          const { path, file } = await watch.change(() => openPending(holder, sizeBytes))
          return new FsPendingBlob({ files, syncs, path, file, claim, publish })
        } catch (error) {
          claim.release()
          throw error
        }
      }),

    requireRoom: (sizeBytes) => translated(() => headroom.require(sizeBytes)),

    open: (sha256) =>
      translated(() => {
        requireSha256(sha256)
        return openBody(sha256)
      }),

    async locate(sha256) {
      requireSha256(sha256)
      return { kind: 'file', path: `${sha256.slice(0, 2)}/${sha256}` }
    },

    stat: (sha256) =>
      translated(async () => {
        requireSha256(sha256)
        const sizeBytes = await unlessMissing(() => files.sizeOf(blobPath(sha256)))
        return sizeBytes === undefined ? confirmPresent() : { sha256, put: '', sizeBytes }
      }),

    async *list({ after = '', limit = Number.POSITIVE_INFINITY } = {}) {
      const blobs = listBlobs(after, limit)
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
        await unlessMissing(() => files.unlink(blobPath(sha256)))
        // Also when it was missing: whoever removed it may not have come to the fsync.
        await unlessMissing(() => syncs.directory(shardDir(sha256)))
        await confirmPresent()
      }),

    deleteQuarantined: (sha256) =>
      translated(async () => {
        requireSha256(sha256)
        await confirmPresent()
        const names = ((await unlessMissing(() => files.readdir(quarantineDir))) ?? []).filter((name) =>
          name.startsWith(`${sha256}-`),
        )
        for (const name of names) await unlessMissing(() => files.unlink(join(quarantineDir, name)))
        if (names.length > 0) await syncs.directory(quarantineDir)
        return names.length
      }),

    sweepPending: (holder) =>
      translated(async () => {
        requireHolder(holder)
        const holderDir = join(pendingDir, holder)
        const names = (await unlessMissing(() => files.readdir(holderDir))) ?? []
        for (const name of names) await unlessMissing(() => files.unlink(join(holderDir, name)))
        await removeIfEmpty(files, holderDir)
        return names.length
      }),

    pendingHolders: () => translated(() => files.readdir(pendingDir)),

    check: () =>
      translated(async () => {
        if (syncs.failure !== undefined) throw syncs.failure
        await files.access(pendingDir, constants.R_OK | constants.W_OK | constants.X_OK)
        await files.freeBytes(dir)
        await files.readdir(dir)
        await installation.read()
        await watch.confirm()
      }),

    async close() {},
  }
}

/** Makes `path` and its missing parents, each name durable in its parent before the call resolves. */
async function makeDurably(path: string, tools: { files: Files; syncs: Syncs }): Promise<void> {
  const { files, syncs } = tools
  const parent = dirname(path)
  try {
    await makeDirectory(files, path)
  } catch (error) {
    if (!hasErrno(error, 'ENOENT') || parent === path) throw error
    await makeDurably(parent, tools)
    await makeDirectory(files, path)
  }
  try {
    await syncs.directory(parent)
  } catch (error) {
    // A parent that may be passed but not read belongs to the operator, and so does the name in it.
    if (!hasErrno(error, 'EACCES') && !isReadOnly(error)) throw error
  }
}

async function makeDirectory(files: Files, path: string): Promise<void> {
  try {
    await files.mkdir(path, DIRECTORY_MODE)
  } catch (error) {
    if (!hasErrno(error, 'EEXIST')) throw error
  }
}

async function removeIfEmpty(files: Files, path: string): Promise<void> {
  try {
    await files.rmdir(path)
  } catch (error) {
    if (!hasErrno(error, 'ENOENT', 'ENOTEMPTY')) throw error
  }
}
