import { setImmediate as tick } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { OutcomeUnknown } from '../../outcome-unknown.ts'
import { LOCKED } from './upload-batches.ts'
import type { WriteCall } from './write-call.ts'
import { WriteQueues } from './write-queues.ts'

interface Run {
  readonly names: readonly string[]
  readonly queueName: string | undefined
  /** With what it fails, or with what it answers in place of the names. */
  readonly end: (error?: unknown, outputs?: readonly unknown[]) => void
}

const LOST = Object.assign(new Error('reset'), { code: 'ECONNRESET' })
const FAULT = Object.assign(new Error('null value'), { code: '23502' })

/** A queue over a database that answers when it is told to; each write is the removal of a file. */
function queueOf({ timeoutMs = 1000, isContended = (): boolean => false } = {}) {
  const runs: Run[] = []
  const run = (calls: readonly WriteCall[], queueName: string | undefined): Promise<readonly unknown[]> => {
    const names = calls.map(
      ({ input }: { input: { key?: string; admit?: { key: string } } }) => input.key ?? input.admit?.key ?? '',
    )
    return new Promise((resolve, reject) => {
      runs.push({
        names,
        queueName,
        end: (error, outputs = names) => (error === undefined ? resolve(outputs) : reject(error)),
      })
    })
  }
  const queue = new WriteQueues({ run, runBatch: (calls) => run(calls, 'batch'), timeoutMs, isContended })
  const write = (principal: string, key: string): Promise<unknown> =>
    queue.write('files.remove', { principal, key, now: 1 })
  const uploadFile = (principal: string, key: string): Promise<unknown> => {
    const content = { pieceRoot: key, aliases: [] }
    return queue.write('quotas.commitAtOnce', {
      admit: { principal, key },
      commit: { file: { principal, key, sha256: key }, content },
    } as never)
  }
  return { queue, runs, write, uploadFile }
}

describe('WriteQueues', () => {
  test('runs what is alone at once, and what has gathered behind it together and in order', async () => {
    const { queue, runs, write } = queueOf()
    const writes = ['a', 'b', 'c', 'd'].map((key) => write('alice', key))
    expect(runs.map(({ names }) => names)).toEqual([['a']])
    runs[0]?.end()
    await tick()
    expect(runs.map(({ names }) => names)).toEqual([['a'], ['b', 'c', 'd']])
    runs[1]?.end()
    expect(await Promise.all(writes)).toEqual(['a', 'b', 'c', 'd'])
    expect(queue.size).toBe(0)
  })

  test('runs queues side by side, and what has no queue without waiting', async () => {
    const { queue, runs, write } = queueOf()
    const writes = [write('alice', 'a'), write('bob', 'b'), write('alice', 'c')]
    const free = queue.write('offers.close', { key: 'free' } as never)
    expect(runs.map(({ names, queueName }) => [names[0], queueName])).toEqual([
      ['a', 'principal alice'],
      ['b', 'principal bob'],
      ['free', undefined],
    ])
    runs[2]?.end()
    expect(await free).toBe('free')
    runs[1]?.end()
    expect(await writes[1]).toBe('b')
    expect(queue.size).toBe(1)
    runs[0]?.end()
    await tick()
    runs[3]?.end()
    await Promise.all(writes)
  })

  test('shares one transaction among 64 at most, and takes those that came first', async () => {
    const { runs, write } = queueOf()
    const writes = Array.from({ length: 200 }, (_, index) => write('alice', `${index}`))
    for (let index = 0; index < 5; index += 1) {
      runs[index]?.end()
      await tick()
    }
    expect(runs.map(({ names }) => names.length)).toEqual([1, 64, 64, 64, 7])
    expect(await Promise.all(writes)).toEqual(Array.from({ length: 200 }, (_, index) => `${index}`))
  })

  test('makes the good writes of a group one by one when a bad one is among them', async () => {
    const { runs, write } = queueOf()
    const first = write('alice', 'first')
    const group = ['a', 'bad', 'c'].map((key) => write('alice', key))
    const settled = Promise.allSettled(group)
    runs[0]?.end()
    await first
    await tick()
    runs[1]?.end(FAULT)
    for (const index of [2, 3, 4]) {
      await tick()
      runs[index]?.end(runs[index]?.names[0] === 'bad' ? FAULT : undefined)
    }
    expect(runs.slice(1).map(({ names }) => names)).toEqual([['a', 'bad', 'c'], ['a'], ['bad'], ['c']])
    expect((await settled).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  })

  test.each([
    ['a connection that is lost', LOST],
    ['a COMMIT of which nobody knows', new OutcomeUnknown(FAULT)],
    ['a disk that is full', Object.assign(new Error('full'), { code: '53100' })],
    ['a lock that cannot be had', Object.assign(new Error('locked'), { code: '55P03' })],
  ])('error: %s fails all that share a transaction, and none is run again', async (_, error) => {
    const { queue, runs, write } = queueOf()
    const first = write('alice', 'first')
    const group = Promise.allSettled(['a', 'b'].map((key) => write('alice', key)))
    runs[0]?.end()
    await first
    await tick()
    runs[1]?.end(error)
    expect((await group).map((result) => result.status === 'rejected' && result.reason)).toEqual([error, error])
    await tick()
    expect(runs).toHaveLength(2)
    expect(queue.size).toBe(0)
  })

  test('error: those who waited for as long as a write is tried fail with it, later ones are tried', async () => {
    const { runs, write } = queueOf({ timeoutMs: 30 })
    const first = Promise.allSettled([write('alice', 'first')])
    const old = Promise.allSettled(['a', 'b'].map((key) => write('alice', key)))
    await new Promise((resolve) => setTimeout(resolve, 60))
    const young = write('alice', 'young')
    runs[0]?.end(LOST)
    await first
    expect((await old).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(runs.map(({ names }) => names)).toEqual([['first'], ['young']])
    runs[1]?.end()
    expect(await young).toBe('young')
  })

  test('puts all principals in one queue under contention', async () => {
    let isContended = true
    const { runs, write } = queueOf({ isContended: () => isContended })
    const writes = ['alice', 'bob', 'carol'].map((principal) => write(principal, principal))
    expect(runs.map(({ queueName }) => queueName)).toEqual(['crowd'])
    runs[0]?.end()
    await tick()
    isContended = false
    writes.push(write('dave', 'dave'))
    expect(runs.map(({ queueName, names }) => [queueName, names.length])).toEqual([
      ['crowd', 1],
      ['crowd', 2],
      ['principal dave', 1],
    ])
    for (const run of runs) run.end()
    await Promise.all(writes)
  })

  test('makes uploads of all principals together', async () => {
    const { runs, uploadFile } = queueOf()
    const uploads = ['alice', 'bob', 'carol'].map((principal) => uploadFile(principal, principal))
    runs[0]?.end()
    await tick()
    expect(runs.map(({ names, queueName }) => [queueName, names])).toEqual([
      ['batch', ['alice']],
      ['batch', ['bob', 'carol']],
    ])
    runs[1]?.end()
    expect(await Promise.all(uploads)).toEqual(['alice', 'bob', 'carol'])
  })

  test('has an upload whose principal is locked wait for the lock, and those behind it share transactions again', async () => {
    const { queue, runs, uploadFile } = queueOf()
    const uploads = [uploadFile('alice', 'locked')]
    runs[0]?.end(undefined, [LOCKED])
    await tick()
    uploads.push(uploadFile('alice', 'behind'), uploadFile('bob', 'other'))
    expect(runs.slice(1).map(({ names, queueName }) => [queueName, names])).toEqual([
      ['principal alice', ['locked']],
      ['batch', ['other']],
    ])
    runs[1]?.end()
    runs[2]?.end()
    await tick()
    expect(runs.slice(3).map(({ names, queueName }) => [queueName, names])).toEqual([['batch', ['behind']]])
    runs[3]?.end()
    expect(await Promise.all(uploads)).toEqual(['locked', 'behind', 'other'])
    expect(queue.size).toBe(0)
  })

  test('has an upload that was locked wait until it is made, whatever is before it', async () => {
    const { runs, write, uploadFile } = queueOf()
    const removal = write('alice', 'removal')
    const first = uploadFile('alice', 'first')
    const made = [removal, first]
    runs[0]?.end()
    await tick()
    expect(runs[1]).toMatchObject({ queueName: 'batch', names: ['first'] })
    made.push(write('alice', 'second removal'))
    runs[1]?.end(undefined, [LOCKED])
    await tick()
    runs[2]?.end()
    await tick()
    expect(runs.slice(2).map(({ names, queueName }) => [queueName, names])).toEqual([
      ['principal alice', ['second removal']],
      ['principal alice', ['first']],
    ])
    runs[3]?.end()
    expect(await Promise.all(made)).toEqual(['removal', 'first', 'second removal'])
  })

  test('answers every write once, in the order of its queue, and forgets all of them', async () => {
    const arrivals = fc.array(fc.record({ queueName: fc.integer({ min: 0, max: 3 }), ends: fc.boolean() }), {
      maxLength: 60,
    })
    await fc.assert(
      fc.asyncProperty(arrivals, async (steps) => {
        const { queue, runs, write } = queueOf()
        const asked: Promise<unknown>[] = []
        let ended = 0
        for (const [index, { queueName, ends }] of steps.entries()) {
          asked.push(write(`${queueName}`, `${queueName} ${index}`))
          if (!ends) continue
          runs[ended]?.end()
          ended += 1
          await tick()
        }
        while (ended < runs.length) {
          runs[ended]?.end()
          ended += 1
          await tick()
        }
        expect(await Promise.all(asked)).toEqual(steps.map(({ queueName }, index) => `${queueName} ${index}`))
        for (const queueName of [0, 1, 2, 3]) {
          const made = runs.flatMap(({ names }) => names).filter((name) => name.startsWith(`${queueName} `))
          expect(made).toEqual(
            steps.flatMap((step, index) => (step.queueName === queueName ? [`${queueName} ${index}`] : [])),
          )
        }
        expect(queue.size).toBe(0)
      }),
      { numRuns: 50 },
    )
  })
})
