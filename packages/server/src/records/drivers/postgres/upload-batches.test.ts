import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { OutcomeUnknown } from '../../outcome-unknown.ts'
import { LOCKED, UploadBatches } from './upload-batches.ts'
import type { WaitingWrite } from './write-call.ts'

interface Run {
  readonly names: readonly string[]
  readonly end: (ending: readonly unknown[] | Error) => Promise<void>
}

/** Batches over a database that answers when it is told to. */
function openBatches({ heldUpMs = 60_000 } = {}) {
  const runs: Run[] = []
  const apart: string[] = []
  const nameOf = ({ input }: { input: never }): string => input
  const batches = new UploadBatches({
    run: (calls) =>
      new Promise((resolve, reject) => {
        const end: Run['end'] = async (ending) => {
          if (ending instanceof Error) reject(ending)
          else resolve(ending)
          await sleep(0)
        }
        runs.push({ names: calls.map(nameOf), end })
      }),
    apart: ({ call }) => apart.push(nameOf(call)),
    heldUpMs,
  })
  const add = (name: string): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const call: WaitingWrite['call'] = { name: 'quotas.commitAtOnce', input: name as never, fence: undefined }
      batches.add({ call, resolve, reject, since: 0 })
    })
  return { batches, runs, apart, add }
}

describe('UploadBatches', () => {
  test('makes what came while a transaction was under way in the next one', async () => {
    const { batches, runs, add } = openBatches()
    const uploads = ['a', 'b', 'c'].map(add)
    expect(runs.map(({ names }) => names)).toEqual([['a']])
    await runs[0]?.end([1])
    expect(runs.map(({ names }) => names)).toEqual([['a'], ['b', 'c']])
    await runs[1]?.end([2, 3])
    expect(await Promise.all(uploads)).toEqual([1, 2, 3])
    expect(batches.isRunning).toBe(false)
  })

  test('puts an upload apart whose principal is locked by somebody else, and answers the others', async () => {
    const { runs, apart, add } = openBatches()
    const uploads = ['a', 'b', 'c', 'd'].map(add)
    await runs[0]?.end([1])
    await runs[1]?.end([2, LOCKED, 4])
    expect(apart).toEqual(['c'])
    expect(await Promise.all([uploads[0], uploads[1], uploads[3]])).toEqual([1, 2, 4])
  })

  test.each([
    ['what one upload fails with', Object.assign(new Error('null value'), { code: '23502' })],
    ['other transactions that undo it', Object.assign(new Error('could not serialize'), { code: '40001' })],
    ['a row that somebody else has', Object.assign(new Error('lock timeout'), { code: '55P03' })],
  ])('makes uploads one by one after %s, and puts apart what cannot be made so either', async (_, error) => {
    const { runs, apart, add } = openBatches()
    const uploads = ['a', 'b', 'c', 'd'].map(add)
    await runs[0]?.end([1])
    await runs[1]?.end(error)
    await runs[2]?.end([2])
    await runs[3]?.end(error)
    await runs[4]?.end([4])
    expect(runs.slice(1).map(({ names }) => names)).toEqual([['b', 'c', 'd'], ['b'], ['c'], ['d']])
    expect(apart).toEqual(['c'])
    expect(await Promise.all([uploads[0], uploads[1], uploads[3]])).toEqual([1, 2, 4])
  })

  test.each([
    ['a COMMIT of which nobody knows', new OutcomeUnknown(new Error('reset'))],
    ['a database that is away', Object.assign(new Error('reset'), { code: 'ECONNRESET' })],
    ['a disk that is full', Object.assign(new Error('full'), { code: '53100' })],
  ])('error: %s fails all uploads of a batch, and none is made again', async (_, error) => {
    const { runs, apart, add } = openBatches()
    const uploads = Promise.allSettled(['a', 'b', 'c'].map(add))
    await runs[0]?.end([1])
    await runs[1]?.end(error)
    expect(await uploads).toMatchObject([{ value: 1 }, { reason: error }, { reason: error }])
    expect(apart).toEqual([])
    expect(runs).toHaveLength(2)
  })

  test('puts the rest apart when making them one by one takes too long', async () => {
    const { runs, apart, add } = openBatches({ heldUpMs: 20 })
    for (const name of ['a', 'b', 'c', 'd']) void add(name)
    await runs[0]?.end([1])
    await runs[1]?.end(Object.assign(new Error('could not serialize'), { code: '40001' }))
    await sleep(60)
    await runs[2]?.end([2])
    expect(runs).toHaveLength(3)
    expect(apart).toEqual(['c', 'd'])
  })

  test('lets nobody wait for a batch that is held up', async () => {
    const { batches, runs, apart, add } = openBatches({ heldUpMs: 20 })
    const held = add('a')
    void add('b')
    await sleep(60)
    void add('c')
    expect(apart).toEqual(['b', 'c'])
    expect(batches.isHeldUp).toBe(true)
    await runs[0]?.end([1])
    expect(await held).toBe(1)
    expect(batches.isHeldUp).toBe(false)
    void add('d')
    expect(runs.map(({ names }) => names)).toEqual([['a'], ['d']])
  })
})
