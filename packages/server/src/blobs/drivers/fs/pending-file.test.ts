import { constants } from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { seededBytes } from '../../conformance/seeded-bytes.ts'
import { SharedBlocks } from '../../shared-blocks.ts'
import type { Files } from './files.ts'
import { DIRECT_MIN_BYTES, PendingFile } from './pending-file.ts'
import { WatchedFiles } from './testing-watched-files.ts'

const MIB = 1024 * 1024
const MODE = 0o600
const blocks = new SharedBlocks(MIB)

let dir: string
let path: string
let watched: WatchedFiles
/** Descriptors that were opened for direct writes. */
let directFds: Set<number>
let files: Files

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'lade-pending-'))
  path = join(dir, 'file')
  watched = new WatchedFiles()
  directFds = new Set()
  files = {
    ...watched.files,
    open: async (path, flags, mode) => {
      const fd = await watched.files.open(path, flags, mode)
      if ((flags & constants.O_DIRECT) !== 0) directFds.add(fd)
      return fd
    },
  }
})

afterEach(async () => {
  expect(watched.openPaths.size).toBe(0)
  await rm(dir, { recursive: true, force: true })
})

/** Writes the bytes as an upload does, a block of shared memory at a time, and closes the file. */
async function writeAll(bytes: Uint8Array, { offsetInBlock = 0 } = {}): Promise<{ wasDirect: boolean }> {
  const file = await PendingFile.create({ files, path, mode: MODE, sizeBytes: bytes.length })
  for (let written = 0; written < bytes.length; ) {
    const block = blocks.take().subarray(offsetInBlock)
    const part = bytes.subarray(written, written + block.length)
    block.set(part)
    for (let offset = 0; offset < part.length; ) {
      const wrote = await file.write(block.subarray(0, part.length), offset, written)
      offset += wrote
      written += wrote
    }
    blocks.give(new Uint8Array(block.buffer, block.byteOffset - offsetInBlock))
  }
  const wasDirect = file.isDirect
  await file.close()
  return { wasDirect }
}

function failing(call: 'open' | 'write', code: string): void {
  const fail = (): never => {
    throw Object.assign(new Error(`${code}: injected`), { code })
  }
  const { open, write } = files
  files = {
    ...files,
    open: async (path, flags, mode) =>
      call === 'open' && (flags & constants.O_DIRECT) !== 0 ? fail() : open(path, flags, mode),
    write: async (fd, ...rest) => (call === 'write' && directFds.has(fd) ? fail() : write(fd, ...rest)),
  }
}

describe('PendingFile', () => {
  test.each([
    0,
    1,
    4095,
    DIRECT_MIN_BYTES - 1,
    DIRECT_MIN_BYTES,
    DIRECT_MIN_BYTES + 1,
    DIRECT_MIN_BYTES + 4095,
    DIRECT_MIN_BYTES + 4096,
    DIRECT_MIN_BYTES + 4097,
    DIRECT_MIN_BYTES + MIB,
  ])('holds the %i bytes that were written', async (sizeBytes) => {
    const bytes = seededBytes(sizeBytes, sizeBytes)
    await writeAll(bytes)
    expect(Buffer.compare(await readFile(path), bytes)).toBe(0)
  })

  test.runIf(process.platform === 'linux')(
    'writes a big file past the page cache, and a smaller one not',
    { meta: { skippedBecause: 'it needs Linux' } },
    async () => {
      expect(await writeAll(seededBytes(DIRECT_MIN_BYTES + 5, 1))).toEqual({ wasDirect: true })
      await rm(path)
      expect(await writeAll(seededBytes(DIRECT_MIN_BYTES - 1, 1))).toEqual({ wasDirect: false })
    },
  )

  test('takes blocks that do not begin with a sector, too', async () => {
    const bytes = seededBytes(DIRECT_MIN_BYTES + 5, 2)
    expect(await writeAll(bytes, { offsetInBlock: 512 })).toEqual({ wasDirect: false })
    expect(Buffer.compare(await readFile(path), bytes)).toBe(0)
  })

  test('goes on where a write took only a part', async () => {
    watched.mostBytesPerCall = 300_000
    const bytes = seededBytes(DIRECT_MIN_BYTES + 5, 3)
    await writeAll(bytes)
    expect(Buffer.compare(await readFile(path), bytes)).toBe(0)
  })

  test.each(['open', 'write'] as const)('does without where the %s says that it cannot', async (call) => {
    failing(call, 'EINVAL')
    const bytes = seededBytes(DIRECT_MIN_BYTES + 5, 4)
    expect(await writeAll(bytes)).toEqual({ wasDirect: false })
    expect(Buffer.compare(await readFile(path), bytes)).toBe(0)
  })

  test('error: any other failure to open is one, and leaves no file', async () => {
    failing('open', 'EMFILE')
    const creating = PendingFile.create({ files, path, mode: MODE, sizeBytes: DIRECT_MIN_BYTES })
    await expect(creating).rejects.toMatchObject({ code: 'EMFILE' })
    expect(await readdir(dir)).toEqual([])
  })

  test('error: a name that is taken', async () => {
    await writeAll(new Uint8Array(1))
    await expect(PendingFile.create({ files, path, mode: MODE, sizeBytes: 1 })).rejects.toMatchObject({
      code: 'EEXIST',
    })
  })
})
