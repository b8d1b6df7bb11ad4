import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { type ContentHashers, digestWhole, hashContentHere } from './content-hasher.ts'
import { digestFile } from './digest-file.ts'
import { startHashThreads } from './hash-threads.ts'
import { EVERYTHING, PLAIN, scatteredBytes } from './testing-bodies.ts'

const MIB = 1024 * 1024
const dir = mkdtempSync(join(tmpdir(), 'lade-digest-file-'))
const threads = startHashThreads({ minBytes: 0 })
afterAll(async () => {
  await threads.close()
  rmSync(dir, { recursive: true })
})

function fileOf(bytes: Uint8Array): string {
  const path = join(dir, 'file')
  writeFileSync(path, bytes)
  return path
}

describe.each([
  ['on the calling thread', hashContentHere],
  ['on threads', threads.hashers],
])('digestFile, hashing %s', (_, hashers) => {
  test.each([0, 1, MIB, 6 * MIB + 5])('hashes a file of %i bytes', async (sizeBytes) => {
    const bytes = scatteredBytes(sizeBytes, sizeBytes)
    expect(await digestFile(fileOf(bytes), { hashers, wanted: () => EVERYTHING })).toEqual(
      digestWhole(bytes, EVERYTHING),
    )
  })

  test('asks what is wanted of a file of that size', async () => {
    const asked: number[] = []
    const wanted = (sizeBytes: number) => {
      asked.push(sizeBytes)
      return PLAIN
    }
    await digestFile(fileOf(Buffer.from('abc')), { hashers, wanted })
    expect(asked).toEqual([3])
  })

  test('error: a file that becomes shorter has no digests, and its hasher is discarded', async () => {
    const path = fileOf(Buffer.alloc(6 * MIB))
    let discards = 0
    const shortening: ContentHashers = (wanted, sizeBytes) => {
      const hasher = hashers(wanted, sizeBytes)
      return {
        ready: () => hasher.ready(),
        update: (block) => {
          truncateSync(path, MIB)
          return hasher.update(block)
        },
        digests: () => hasher.digests(),
        discard() {
          discards += 1
          hasher.discard()
        },
      }
    }
    await expect(digestFile(path, { hashers: shortening, wanted: () => PLAIN })).rejects.toThrow('shorter')
    expect(discards).toBe(1)
  })

  test('error: a file that is not there is the error of the file system', async () => {
    await expect(digestFile(join(dir, 'absent'), { hashers, wanted: () => PLAIN })).rejects.toThrow('ENOENT')
  })
})
