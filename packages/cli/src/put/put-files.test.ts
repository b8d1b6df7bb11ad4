import type { LadeClient, PutOptions, PutProgress, PutSource } from '@lade/client'
import { LadeError } from '@lade/core/errors'
import type { UploadResult } from '@lade/core/wire'
import { describe, expect, it } from 'vitest'
import { Interrupted } from '../exit-code.ts'
import { testTerminal } from '../testing-terminal.ts'
import type { LocalFile } from './collect-files.ts'
import { PutCounters } from './put-counters.ts'
import { type Outcome, type PutFilesOptions, putFiles } from './put-files.ts'
import { PutMemory } from './put-memory.ts'

const fileOf = (name: string, sizeBytes = 10): LocalFile => ({
  path: `/files/${name}`,
  shown: name,
  name,
  sizeBytes,
  version: '',
})
const resultOf = (size: number) => ({ cid: 'bafk', size }) as UploadResult
const doneAt = (sizeBytes: number, parts: Partial<PutProgress['parts']> = {}): PutProgress => ({
  phase: 'done',
  sizeBytes,
  hashedBytes: sizeBytes,
  sentBytes: sizeBytes,
  parts: { total: 1, sent: 1, found: 0, ...parts },
})

/** Puts `names` by a client whose `put` is `put`. */
async function run(
  names: readonly string[],
  put: (source: PutSource, options: PutOptions) => Promise<UploadResult>,
  options: Partial<PutFilesOptions> = {},
) {
  const outcomes: Outcome[] = []
  const notTried = await putFiles(
    names.map((name) => fileOf(name)),
    {
      client: { put } as LadeClient,
      memory: new PutMemory(testTerminal().terminal),
      progress: { show: () => {}, around: (write) => write(), stop: () => {} },
      signal: new AbortController().signal,
      jobs: 4,
      takesHidden: false,
      account: 'me',
      put: {},
      onOutcome: (outcome) => outcomes.push(outcome),
      ...options,
    },
  )
  return { notTried, outcomes }
}

const failed = (outcomes: readonly Outcome[]) => outcomes.filter((one) => 'error' in one).map(({ item }) => item.shown)

describe('putFiles', () => {
  it('names each file after itself and takes its type from its name', async () => {
    const seen: unknown[] = []
    await run(['a.jpg', 'b'], async (source, { filename, contentType }) => {
      seen.push([source, filename, contentType])
      return resultOf(10)
    })
    expect(seen).toEqual([
      ['/files/a.jpg', 'a.jpg', 'image/jpeg'],
      ['/files/b', 'b', 'application/octet-stream'],
    ])
  })

  it('takes name and type that were asked for instead', async () => {
    const seen: unknown[] = []
    const put = async (_: PutSource, { filename, contentType }: PutOptions) => {
      seen.push([filename, contentType])
      return resultOf(10)
    }
    await run(['a.jpg'], put, { name: 'other.png' })
    await run(['a.jpg'], put, { mediaType: 'text/plain' })
    expect(seen).toEqual([
      ['other.png', 'image/png'],
      ['a.jpg', 'text/plain'],
    ])
  })

  it('goes on after a file that failed', async () => {
    const { outcomes, notTried } = await run(['a', 'b', 'c'], async (source) => {
      if (source === '/files/b') throw new LadeError('too_large', { limit: 1, size: 10 })
      return resultOf(10)
    })
    expect([outcomes.length, failed(outcomes), notTried]).toEqual([3, ['b'], 0])
  })

  it('tries nothing more after an error that every file would meet', async () => {
    const { outcomes, notTried } = await run(
      ['a', 'b', 'c', 'd'],
      async () => {
        throw new LadeError('revoked_token', { jti: '' })
      },
      { jobs: 1 },
    )
    expect([failed(outcomes), notTried]).toEqual([['a'], 3])
  })

  it.each([
    [1, 4, 4, 1],
    [2, 4, 2, 2],
    [6, 4, 1, 4],
    [1, 16, 4, 1],
    [3, 1, 1, 1],
  ])('of %i files with %i jobs sends %i parts of each and %i files side by side', async (count, jobs, parts, files) => {
    let running = 0
    let most = 0
    const concurrencies = new Set<number | undefined>()
    const names = Array.from({ length: count }, (_, at) => `f${at}`)
    await run(
      names,
      async (_, { concurrency }) => {
        concurrencies.add(concurrency)
        running += 1
        most = Math.max(most, running)
        await new Promise((resolve) => setTimeout(resolve, 5))
        running -= 1
        return resultOf(10)
      },
      { jobs },
    )
    expect([[...concurrencies], most]).toEqual([[parts], files])
  })

  it('says of a file that nothing of it was sent', async () => {
    const { outcomes } = await run(['new', 'old'], async (source, { onProgress }) => {
      onProgress?.(source === '/files/old' ? doneAt(10, { sent: 0, found: 1 }) : doneAt(10))
      return resultOf(10)
    })
    const wasThere = outcomes.map((one) => [one.item.shown, 'result' in one && one.wasThere])
    expect(Object.fromEntries(wasThere)).toEqual({ new: false, old: true })
  })

  it('ends with the reason of its signal', async () => {
    const controller = new AbortController()
    const running = run(
      ['a', 'b'],
      (_, { signal }) =>
        new Promise((_resolve, reject) => {
          const end = () => reject(signal?.reason as Error)
          if (signal?.aborted) end()
          signal?.addEventListener('abort', end)
        }),
      { signal: controller.signal },
    )
    controller.abort(new Interrupted())
    await expect(running).rejects.toThrow(Interrupted)
  })
})

describe('PutCounters', () => {
  const sending: PutProgress = {
    phase: 'sending',
    sizeBytes: 100,
    hashedBytes: 100,
    sentBytes: 40,
    parts: { total: 8, sent: 1, found: 2 },
  }

  it('shows the phases of one file, and its parts', () => {
    const counters = new PutCounters([100])
    expect(counters.view()).toMatchObject({ label: 'Putting', doneBytes: 0, totalBytes: 100 })
    counters.update(0, { ...sending, phase: 'hashing', hashedBytes: 30, sentBytes: 0 })
    expect(counters.view()).toMatchObject({ label: 'Hashing', doneBytes: 30, totalBytes: 100 })
    counters.update(0, sending)
    expect(counters.view()).toEqual({
      label: 'Sending',
      doneBytes: 40,
      totalBytes: 100,
      remark: '3 of 8 parts, 2 found already',
    })
    counters.update(0, { ...sending, phase: 'composing', sentBytes: 100 })
    expect(counters.view().label).toBe('Composing')
  })

  it('adds up several files, those that are done and those that are not', () => {
    const counters = new PutCounters([100, 100, 100])
    counters.update(0, sending)
    counters.end(1, 100)
    expect(counters.view()).toEqual({ label: 'Putting', doneBytes: 140, totalBytes: 300, remark: '1 of 3 files' })
  })

  it('shows the phases of a folder, and its files', () => {
    const counters = new PutCounters([undefined])
    const progress = {
      files: 3,
      sizeBytes: 30,
      hashedBytes: 20,
      toSend: { files: 2, bytes: 15 },
      sent: { files: 1, bytes: 5 },
    }
    counters.update(0, { ...progress, phase: 'listing' })
    expect(counters.view()).toEqual({ label: 'Listing', doneBytes: 30, totalBytes: undefined, remark: '3 files' })
    counters.update(0, { ...progress, phase: 'hashing' })
    expect(counters.view()).toEqual({ label: 'Hashing', doneBytes: 20, totalBytes: 30, remark: '3 files' })
    counters.update(0, { ...progress, phase: 'sending' })
    expect(counters.view()).toEqual({ label: 'Sending', doneBytes: 5, totalBytes: 15, remark: '1 of 2 files' })
  })

  it('knows no end while that of one is not known', () => {
    const counters = new PutCounters([undefined])
    counters.update(0, { ...sending, sizeBytes: undefined, parts: { total: undefined, sent: 2, found: 0 } })
    expect(counters.view()).toEqual({ label: 'Sending', doneBytes: 40, totalBytes: undefined, remark: '2 parts' })
  })
})
