import { createHash } from 'node:crypto'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { sizeOf } from '../../hashing/slice.ts'
import { noise } from '../../testing/noise.ts'
import { platform } from './platform.ts'

const hexBy = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

afterEach(() => vi.unstubAllGlobals())

describe("the browsers' platform", () => {
  it('hashes alike with and without Web Crypto, which a page without a secure context has not', async () => {
    for (const bytes of [new Uint8Array(), noise(100), noise(1_048_576)]) {
      expect(hex(await platform.digest(bytes))).toBe(hexBy(bytes))
      vi.stubGlobal('crypto', { getRandomValues: () => {} })
      expect(hex(await platform.digest(bytes))).toBe(hexBy(bytes))
      vi.stubGlobal('crypto', undefined)
      expect(hex(await platform.digest(bytes))).toBe(hexBy(bytes))
      vi.unstubAllGlobals()
    }
  })

  it('gathers what comes once in a Blob, whatever becomes of the chunks', async () => {
    const spill = await platform.createSpill()
    const bytes = noise(10_000_000)
    const chunk = new Uint8Array(70_000)
    for (let at = 0; at < bytes.length; at += chunk.length) {
      const part = bytes.subarray(at, at + chunk.length)
      chunk.set(part)
      await spill.append(chunk.subarray(0, part.length))
    }
    chunk.fill(0)
    for (const slice of [spill.slice(), spill.slice()]) {
      if (slice.kind !== 'blob') throw new TypeError('it is no Blob')
      expect(sizeOf(slice)).toBe(bytes.length)
      expect(Buffer.compare(await slice.blob.bytes(), bytes)).toBe(0)
    }
  })

  it('starts no worker where there are none, or the page may not', () => {
    expect(platform.startWorker()).toBeUndefined()
    vi.stubGlobal(
      'Worker',
      class {
        constructor() {
          throw new DOMException('The policy forbids it', 'SecurityError')
        }
      },
    )
    expect(platform.startWorker()).toBeUndefined()
  })

  it('has no paths', async () => {
    await expect(platform.openPath('/etc/hostname')).rejects.toThrow(TypeError)
  })
})
