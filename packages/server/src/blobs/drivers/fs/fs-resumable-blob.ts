import { constants } from 'node:fs'
import { basename } from 'node:path'
import { allocateReadBuffer } from '@lade/node/memory/read-buffer'
import type { ByteRange, ResumableBlob, ResumeOptions } from '../../blob-store.ts'
import type { BufferList } from '../../buffer-list.ts'
import { requireRange } from '../../store-arguments.ts'
import type { Files } from './files.ts'
import { translated, unlessMissing } from './fs-failure.ts'
import { FsPendingBlob } from './fs-pending-blob.ts'
import type { FsStoreParts } from './fs-store-parts.ts'
import type { Headroom } from './headroom.ts'
import { PendingFile } from './pending-file.ts'
import { statFile } from './stat-file.ts'
import type { WriteWatch } from './write-watch.ts'

/** A second name of the file, which is renamed to its digest. */
const COMMITTING = '.commit'
const FILE_NAME = /^[0-9]{1,16}$/

export interface ResumeParts extends FsStoreParts {
  readonly headroom: Headroom
  readonly watch: WriteWatch
  readonly buffers: BufferList
}

/**
 * Opens the file of an upload: `<dir>/pending/<holder>/<n>`, and its place is the `n`. Undefined when it is not there, or too short.
 *
 * A file that was committed has two names. Nobody may write to it under the first, so what was kept of it is copied.
 */
export async function resumeFsBlob(parts: ResumeParts, options: ResumeOptions): Promise<ResumableBlob | undefined> {
  const { headroom, watch, pending } = parts
  const { holder, place, keptBytes, sizeBytes, principal } = options
  if (place !== '' && !FILE_NAME.test(place)) return undefined
  const claim = await headroom.claim(sizeBytes === undefined ? undefined : sizeBytes - keptBytes, principal)
  try {
    const found = place === '' ? undefined : await statFile(parts.files, pending.pathOf(holder, place))
    const isThere = found !== undefined && found.sizeBytes >= keptBytes
    if (place === '' ? keptBytes > 0 : !isThere) {
      claim.release()
      await pending.confirmPresent()
      return undefined
    }
    const opened = await watch.change(() => openFile(parts, options, found?.links === 1))
    const isNamed = found?.links === 1
    return new FsResumableBlob(parts, { ...opened, claim, holder, keptBytes, isNamed })
  } catch (error) {
    claim.release()
    throw error
  }
}

/** The file to write on, which is a new one where there is none, or it must not be written to. */
async function openFile(
  { files, pending }: ResumeParts,
  { holder, place, keptBytes, sizeBytes }: ResumeOptions,
  isOwn: boolean,
): Promise<{ path: string; file: PendingFile }> {
  if (isOwn) {
    const path = pending.pathOf(holder, place)
    return { path, file: await PendingFile.reopen({ files, path, keptBytes, sizeBytes }) }
  }
  const created = await pending.create(holder, sizeBytes)
  if (place === '') return created
  try {
    let position = 0
    for await (const chunk of readFile(files, pending.pathOf(holder, place), { offset: 0, length: keptBytes })) {
      for (let offset = 0; offset < chunk.length; ) {
        const bytes = await created.file.write(chunk, offset, position)
        offset += bytes
        position += bytes
      }
    }
    return created
  } catch (error) {
    await created.file.close()
    throw error
  }
}

/** @throws {Error} when the file has fewer bytes. */
async function* readFile(
  files: Files,
  path: string,
  { offset, length }: ByteRange,
  buffer: Uint8Array = allocateReadBuffer(1024 * 1024),
): AsyncGenerator<Uint8Array> {
  const fd = await files.open(path, constants.O_RDONLY)
  try {
    for (let done = 0; done < length; ) {
      const read = await files.read(fd, buffer, 0, Math.min(buffer.length, length - done), offset + done)
      if (read === 0) throw new Error(`${path} has ${offset + done} bytes, fewer than were kept.`)
      done += read
      yield buffer.subarray(0, read)
    }
  } finally {
    await files.close(fd)
  }
}

interface OpenedFile {
  readonly path: string
  readonly file: PendingFile
  readonly claim: Awaited<ReturnType<Headroom['claim']>>
  readonly holder: string
  readonly keptBytes: number
  /** True when the name is durable already. */
  readonly isNamed: boolean
}

class FsResumableBlob implements ResumableBlob {
  readonly put = ''
  readonly #parts: ResumeParts
  readonly #opened: OpenedFile
  readonly #pending: FsPendingBlob
  #isNamed: boolean
  #writtenBytes: number

  constructor(parts: ResumeParts, opened: OpenedFile) {
    this.#parts = parts
    this.#opened = opened
    this.#isNamed = opened.isNamed
    this.#writtenBytes = opened.keptBytes
    const publish = (path: string, sha256: string) => this.#publish(path, sha256)
    this.#pending = new FsPendingBlob({ ...parts, ...opened, shards: { publish } })
  }

  async write(chunk: Uint8Array): Promise<void> {
    await this.#pending.write(chunk)
    this.#writtenBytes += chunk.length
  }

  async keep(): Promise<string> {
    await this.#pending.flush()
    const { pending, syncs } = this.#parts
    const { holder, path } = this.#opened
    if (!this.#isNamed) await translated(() => pending.syncNames(syncs, holder))
    this.#isNamed = true
    return basename(path)
  }

  async *read(range?: ByteRange): AsyncGenerator<Uint8Array> {
    const { files, buffers } = this.#parts
    const within = requireRange(range, this.#writtenBytes)
    const buffer = buffers.take()
    const chunks = readFile(files, this.#opened.path, within, buffer)
    try {
      for (;;) {
        const next = await translated(() => chunks.next())
        if (next.done === true) return
        yield next.value
      }
    } finally {
      await chunks.return(undefined)
      buffers.give(buffer)
    }
  }

  commit(sha256: string): Promise<void> {
    return this.#pending.commit(sha256)
  }

  close(): Promise<void> {
    return this.#pending.setAside()
  }

  /** The first name stays, so that the upload can be resumed if nobody comes to record the file. */
  async #publish(path: string, sha256: string): Promise<void> {
    const { files, shards } = this.#parts
    const second = `${path}${COMMITTING}`
    await unlessMissing(() => files.unlink(second))
    await files.link(path, second)
    await shards.publish(second, sha256)
  }
}
