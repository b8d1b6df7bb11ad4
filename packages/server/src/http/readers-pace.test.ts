import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ByteRange } from '../blobs/blob-store.ts'
import { atReadersPace } from './readers-pace.ts'

const KIB = 1024
const MIB = 1024 * KIB

/** Bytes that a store reads ahead, with how many bytes of buffers are held for their readers. */
function storedBody(sizeBytes: number, { version }: { version?: string } = { version: 'v1' }) {
  const bytes = new Uint8Array(sizeBytes).map((_, index) => index % 251)
  const held = { count: 0 }
  const asked: ByteRange[] = []
  async function* chunks(range: ByteRange = { offset: 0, length: sizeBytes }): AsyncGenerator<Uint8Array> {
    asked.push(range)
    held.count += 1
    try {
      const end = range.offset + range.length
      for (let at = range.offset; at < end; at += 512 * KIB) {
        await Promise.resolve()
        yield bytes.subarray(at, Math.min(end, at + 512 * KIB))
      }
    } finally {
      held.count -= 1
    }
  }
  return { bytes, held, asked, body: { sizeBytes, version, chunks } }
}

describe('atReadersPace', () => {
  const open: AsyncGenerator<Uint8Array>[] = []
  const read = (...args: Parameters<typeof atReadersPace>) => {
    const reading = atReadersPace(...args)
    open.push(reading)
    return reading
  }
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance'] })
  })
  afterEach(async () => {
    vi.useRealTimers()
    for (const reading of open.splice(0)) await reading.return(undefined)
  })

  async function rest(reading: AsyncGenerator<Uint8Array>): Promise<Buffer> {
    const chunks: Buffer[] = []
    for await (const chunk of reading) chunks.push(Buffer.from(chunk))
    return Buffer.concat(chunks)
  }

  it('reads in one stream while few are reading', async () => {
    const { bytes, body, asked } = storedBody(3 * MIB)
    const range = { offset: 5, length: 2 * MIB }
    expect(Buffer.compare(await rest(read(body, range)), bytes.subarray(5, 5 + 2 * MIB))).toBe(0)
    expect(asked).toEqual([range])
  })

  it.each([
    ['v1', 64 * KIB],
    [undefined, 256 * KIB],
  ])('holds 16 streams and a window each for readers that do not read (version %s)', async (version, windowBytes) => {
    const { body, held } = storedBody(3 * MIB, version === undefined ? {} : { version })
    const readings = Array.from({ length: 200 }, () => read(body))
    const first = await Promise.all(readings.map((reading) => reading.next()))
    expect(held.count).toBe(16)
    const windows = first.slice(16).map(({ value }) => value as Uint8Array)
    for (const window of windows) {
      expect([window.length, window.buffer.byteLength]).toEqual([windowBytes, windowBytes])
    }
  })

  it('gives the same bytes in windows, also when the last one is short', async () => {
    const { bytes, body } = storedBody(MIB + 7)
    const idle = Array.from({ length: 16 }, () => read(body))
    for (const reading of idle) await reading.next()
    expect(Buffer.compare(await rest(read(body)), bytes)).toBe(0)
  })

  it('gives a stream to one that has kept up, and takes it from one that has not', async () => {
    const { bytes, body, held, asked } = storedBody(8 * MIB)
    const idle = Array.from({ length: 16 }, () => read(body))
    for (const reading of idle) await reading.next()
    expect(Buffer.compare(await rest(read(body)), bytes)).toBe(0)
    expect(asked.at(-1)).toEqual({ offset: 5 * MIB, length: 3 * MIB })

    const [late] = idle
    vi.advanceTimersByTime(2000)
    const { value } = (await late?.next()) ?? {}
    expect((value as Uint8Array).length).toBe(64 * KIB)
    expect(held.count).toBe(15)
    if (late !== undefined) expect(Buffer.compare(await rest(late), bytes.subarray(576 * KIB))).toBe(0)
  })

  it('leaves one that is late its stream while few are reading', async () => {
    const { body, asked } = storedBody(3 * MIB)
    const reading = read(body)
    for (let turn = 0; turn < 6; turn += 1) {
      await reading.next()
      vi.advanceTimersByTime(5000)
    }
    expect(asked).toHaveLength(1)
  })

  it('error: ends by what the store throws, in a stream and in a window', async () => {
    const body = {
      sizeBytes: MIB,
      version: 'v1',
      // biome-ignore lint/correctness/useYield: it has nothing to give.
      async *chunks(): AsyncGenerator<Uint8Array> {
        throw new Error('no more')
      },
    }
    for (let turn = 0; turn < 40; turn += 1) await expect(read(body).next()).rejects.toThrow('no more')
    const { body: good } = storedBody(MIB)
    for (let turn = 0; turn < 16; turn += 1) await read(good).next()
    for (let turn = 0; turn < 40; turn += 1) await expect(read(body).next()).rejects.toThrow('no more')
  })

  it('reads also where there is nothing to read, so that lost bytes are found', async () => {
    const { body, asked } = storedBody(0)
    expect((await rest(read(body))).length).toBe(0)
    expect(asked).toEqual([{ offset: 0, length: 0 }])
  })
})
