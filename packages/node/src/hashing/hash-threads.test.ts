import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import { BodyBill } from '../budget/body-bill.ts'
import { WorkBudget } from '../budget/work-budget.ts'
import { digestWhole } from './content-hasher.ts'
import type { HashCall } from './hash-calls.ts'
import { type HashThreadsOptions, startHashThreads } from './hash-threads.ts'
import { sha256Hashing } from './sha256-hashing.ts'
import { EVERYTHING, PLAIN, scatteredBytes, shared } from './testing-bodies.ts'

const MIB = 1024 * 1024
const BIG = 5 * MIB

afterEach(() => {
  vi.restoreAllMocks()
})

/** The workers that are spoken to from now on, each once. */
function watchWorkers(): () => Worker[] {
  const spy = vi.spyOn(Worker.prototype, 'postMessage')
  return () => [...new Set(spy.mock.contexts)] as Worker[]
}

describe('hash threads', () => {
  const threads = startHashThreads({ threads: 2 })
  afterAll(() => threads.close())

  test('take bodies of 256 KiB and more, and spread what is to be computed', async () => {
    const workers = watchWorkers()
    const small = scatteredBytes(256 * 1024 - 1, 1)
    const hasher = threads.hashers(PLAIN, small.length)
    await hasher.update(small)
    expect(await hasher.digests()).toEqual(digestWhole(small, PLAIN))
    expect(workers()).toHaveLength(0)

    const big = scatteredBytes(256 * 1024, 1)
    const bigHasher = threads.hashers(PLAIN, big.length)
    await bigHasher.update(big)
    expect(await bigHasher.digests()).toEqual(digestWhole(big, PLAIN))
    expect(workers()).toHaveLength(2)
  })

  test('keep bodies apart that are hashed at once', async () => {
    const bodies = Array.from({ length: 6 }, (_, index) => scatteredBytes(BIG + index, index))
    const digests = await Promise.all(
      bodies.map(async (body, index) => {
        const hasher = threads.hashers(index % 2 === 0 ? PLAIN : EVERYTHING, body.length)
        for (let offset = 0; offset < body.length; offset += 700_001)
          await hasher.update(body.subarray(offset, offset + 700_001))
        return hasher.digests()
      }),
    )
    expect(digests).toEqual(bodies.map((body, index) => digestWhole(body, index % 2 === 0 ? PLAIN : EVERYTHING)))
  })

  test('have read a block of shared memory when its update settles', async () => {
    const body = scatteredBytes(BIG, 3)
    const blocks = Array.from({ length: 4 }, () => shared(Buffer.alloc(300_000)))
    const uses = blocks.map(() => Promise.resolve())
    const hasher = threads.hashers(EVERYTHING, body.length)
    for (let offset = 0, turn = 0; offset < body.length; offset += 300_000, turn = (turn + 1) % blocks.length) {
      await uses[turn]
      const part = body.subarray(offset, offset + 300_000)
      const block = (blocks[turn] ?? Buffer.of()).fill(0xff)
      block.set(part)
      uses[turn] = hasher.update(block.subarray(0, part.length))
    }
    await Promise.all(uses)
    for (const block of blocks) block.fill(0xee)
    expect(await hasher.digests()).toEqual(digestWhole(body, EVERYTHING))
  })

  test('are asked to forget a body once, on every thread that has a part of it', async () => {
    const forgotten = threads.hashers(PLAIN, BIG)
    await forgotten.update(shared(Buffer.alloc(1000)))
    const spy = vi.spyOn(Worker.prototype, 'postMessage')
    forgotten.discard()
    forgotten.discard()
    expect(spy.mock.calls.map(([call]) => call)).toMatchObject([{ call: 'discard' }, { call: 'discard' }])
    expect(new Set(spy.mock.contexts).size).toBe(2)
  })

  test('error: a body fails alone when its bytes are not those announced', async () => {
    const body = scatteredBytes(BIG, 4)
    const [wrong, right] = [threads.hashers(EVERYTHING, BIG + 1), threads.hashers(EVERYTHING, BIG)]
    await Promise.all([wrong.update(body), right.update(body)])
    await expect(wrong.digests()).rejects.toThrow(TypeError)
    expect(await right.digests()).toEqual(digestWhole(body, EVERYTHING))
  })
})

describe('hash threads with a budget', () => {
  const log = { warn: () => {} }
  const budgetOf = (options = {}) => new WorkBudget({ now: () => 0, log, networkOf: () => undefined, ...options })
  const carRoot = { version: 1, codec: 0x71n, hash: 0x12n, digest: new Uint8Array(32) } as const

  test('serve first whoever has used the least, and each body in its order', async () => {
    const budget = budgetOf()
    budget.spend({ principal: 'big', work: 'hash', processorMs: 1000 })
    const threads = startHashThreads({ threads: 1, budget })
    const bodies = [scatteredBytes(BIG, 6), scatteredBytes(BIG, 7)] as const
    const order: string[] = []
    const hashBy = (principal: string, body: Uint8Array) => {
      const hasher = threads.hashers(PLAIN, BIG, new BodyBill({ budget, principal }))
      for (let offset = 0; offset < BIG; offset += BIG / 16) {
        hasher.update(body.subarray(offset, offset + BIG / 16)).then(() => order.push(principal))
      }
      return hasher.digests()
    }
    expect(await Promise.all([hashBy('big', bodies[0]), hashBy('small', bodies[1])])).toEqual(
      bodies.map((body) => digestWhole(body, PLAIN)),
    )
    // What was with the thread already is not taken back.
    expect(order.lastIndexOf('small')).toBeLessThan(order.lastIndexOf('big'))
    expect(order.slice(6, 20).filter((principal) => principal === 'small').length).toBeGreaterThan(10)
    expect(budget.usedMs('small')).toBeGreaterThan(0)
    expect(budget.counters().spent.get('hash')?.unpaidMs).toBe(1000)
    await threads.close()
  })

  test('do not hash the blocks of a discarded body that still wait', async () => {
    const threads = startHashThreads({ threads: 1 })
    const hasher = threads.hashers(PLAIN, BIG)
    const spy = vi.spyOn(Worker.prototype, 'postMessage')
    const updates = Array.from({ length: 50 }, () => hasher.update(shared(Buffer.alloc(1000))))
    await updates[0]
    hasher.discard()
    await Promise.all(updates)
    expect(spy.mock.calls.length).toBeLessThan(20)
    await threads.close()
  })

  test('read CARs on a thread of their own', async () => {
    const workers = watchWorkers()
    const threads = startHashThreads({ threads: 1 })
    for (const wanted of [PLAIN, { ...PLAIN, carRoot }]) {
      const hasher = threads.hashers(wanted, BIG)
      await hasher.update(shared(Buffer.alloc(1000)))
      hasher.discard()
    }
    expect(workers()).toHaveLength(2)
    await threads.close()
  })

  test('error: over_budget for a CAR while the unpaid time of its sender is used up, and for nothing else of it', async () => {
    const budget = budgetOf()
    const threads = startHashThreads({ threads: 1, budget })
    const principal = 'ip:192.0.2.7'
    const [car, plain] = [{ ...PLAIN, carRoot }, PLAIN].map((wanted) =>
      threads.hashers(wanted, BIG, new BodyBill({ budget, principal })),
    )
    await car?.update(shared(Buffer.alloc(1000)))
    budget.spend({ principal, work: 'hash', processorMs: 6000 })
    await expect(car?.update(shared(Buffer.alloc(1000)))).rejects.toMatchObject({ code: 'over_budget' })
    await expect(car?.digests()).rejects.toMatchObject({ code: 'over_budget' })
    await plain?.update(shared(Buffer.alloc(1000)))
    await threads.close()
  })
})

describe('the streams of a body', () => {
  /** The kinds of stream on each of two threads that have nothing else to do. */
  async function kindsOnThreads(options: HashThreadsOptions): Promise<string[][]> {
    const spy = vi.spyOn(Worker.prototype, 'postMessage')
    const threads = startHashThreads({ ...options, threads: 2 })
    const hasher = threads.hashers({ ...EVERYTHING, blake3: false, blake2b256: false }, BIG)
    await hasher.update(Buffer.alloc(1))
    hasher.discard()
    const calls = spy.mock.calls.map(([call]) => call as HashCall).filter((call) => call.call === 'block')
    spy.mockRestore()
    await threads.close()
    return calls.map(({ open }) => (open?.streams ?? []).map(({ kind }) => kind))
  }

  test.runIf(sha256Hashing.isNative)(
    'that are sha2-256 streams share a thread, where two cost as much as one',
    { meta: { skippedBecause: 'the sha2-256 addon is not built here' } },
    async () => {
      expect(await kindsOnThreads({})).toEqual([['piece'], ['sha2-256', 'unixfs', 'unixfs', 'unixfs']])
      expect(await kindsOnThreads({ withoutPieces: true })).toEqual([
        ['sha2-256', 'unixfs'],
        ['unixfs', 'unixfs'],
      ])
    },
  )

  test.each([
    { of: 'one block take one call where no thread is idle', sizeBytes: MIB, isAlone: false, calls: 1 },
    { of: 'one block take a call of each thread where they are idle', sizeBytes: MIB, isAlone: true, calls: 2 },
    { of: 'three blocks take a call for each on each thread', sizeBytes: 3 * MIB - 5, isAlone: false, calls: 6 },
    { of: 'unknown length take one more, behind the last', sizeBytes: MIB, isKnown: false, isAlone: false, calls: 4 },
    { of: 'no bytes take a call that opens and closes', sizeBytes: 0, isKnown: false, isAlone: true, calls: 2 },
  ])('of bodies of $of', async ({ sizeBytes, isKnown = true, isAlone, calls }) => {
    const threads = startHashThreads({ threads: 2 })
    if (!isAlone) await threads.hashers(PLAIN, BIG).update(scatteredBytes(1000, 7))
    const spy = vi.spyOn(Worker.prototype, 'postMessage')
    const body = scatteredBytes(sizeBytes, 8)
    const hasher = threads.hashers(PLAIN, isKnown ? sizeBytes : undefined)
    const updates: Promise<void>[] = []
    for (let at = 0; at < sizeBytes; at += MIB) updates.push(hasher.update(body.slice(at, at + MIB)))
    expect(await hasher.digests()).toEqual(digestWhole(body, PLAIN))
    await Promise.all(updates)
    expect(spy).toHaveBeenCalledTimes(calls)
    await threads.close()
  })

  test('without the addon are spread by what each costs alone', async () => {
    expect(await kindsOnThreads({ withoutAddon: true })).toEqual([
      ['piece', 'unixfs'],
      ['sha2-256', 'unixfs', 'unixfs'],
    ])
  })
})

describe('a hash thread that dies', () => {
  test('error: fails the bodies that it was hashing, and leaves the next ones to another', async () => {
    const workers = watchWorkers()
    const threads = startHashThreads({ threads: 2 })
    const body = scatteredBytes(BIG, 5)
    const bodies = [threads.hashers(PLAIN, BIG), threads.hashers(PLAIN, BIG)]
    await Promise.all(bodies.map((hasher) => hasher.update(body.subarray(0, 1000))))
    const [first, second] = workers()
    await first?.terminate()
    for (const hasher of bodies) {
      await expect(hasher.update(body.subarray(1000))).rejects.toThrow('ended')
      await expect(hasher.digests()).rejects.toThrow('ended')
      hasher.discard()
    }
    const next = threads.hashers(PLAIN, BIG)
    await next.update(body)
    expect(await next.digests()).toEqual(digestWhole(body, PLAIN))
    expect(workers()).toHaveLength(3)
    expect(workers()).toContain(second)
    await threads.close()
  })

  test('error: fails what is waiting for it', async () => {
    const workers = watchWorkers()
    const threads = startHashThreads({ threads: 1 })
    const hasher = threads.hashers(PLAIN, BIG)
    await hasher.update(shared(Buffer.alloc(1000)))
    const updates = [hasher.update(shared(Buffer.alloc(1000))), hasher.update(shared(Buffer.alloc(1000)))]
    await workers()[0]?.terminate()
    for (const outcome of await Promise.allSettled(updates)) expect(outcome.status).toBe('rejected')
    await threads.close()
  })
})

describe('hash threads without a body', () => {
  test('end after a while, and the next body starts others', async () => {
    const workers = watchWorkers()
    const threads = startHashThreads({ threads: 2, idleMs: 50 })
    const body = scatteredBytes(BIG, 9)
    const hashNow = async (): Promise<void> => {
      const hasher = threads.hashers(PLAIN, BIG)
      await hasher.update(body)
      expect(await hasher.digests()).toEqual(digestWhole(body, PLAIN))
    }
    await hashNow()
    await vi.waitFor(() => expect(workers().map(({ threadId }) => threadId)).toEqual([-1, -1]), { timeout: 5000 })
    await hashNow()
    expect(workers()).toHaveLength(4)
    threads.hashers(PLAIN, BIG).discard()
    await vi.waitFor(() => expect(workers().every(({ threadId }) => threadId === -1)).toBe(true), { timeout: 5000 })
    await threads.close()
  })

  test('do not end while a body waits for more', async () => {
    const threads = startHashThreads({ threads: 1, idleMs: 50 })
    const body = scatteredBytes(BIG, 9)
    const waiting = threads.hashers(PLAIN, BIG)
    await waiting.update(body.subarray(0, 1000))
    threads.hashers(PLAIN, BIG).discard()
    await wait(300)
    await waiting.update(body.subarray(1000))
    expect(await waiting.digests()).toEqual(digestWhole(body, PLAIN))
    await threads.close()
  })
})

describe('close', () => {
  test('error: closed threads refuse instead of waiting for ever', async () => {
    const threads = startHashThreads()
    const [open, later] = [threads.hashers(PLAIN, BIG), () => threads.hashers(PLAIN, BIG)]
    const update = open.update(shared(Buffer.alloc(1000)))
    await Promise.all([expect(update).rejects.toThrow('closed'), threads.close()])
    await expect(open.update(Buffer.from('abc'))).rejects.toThrow('closed')
    await expect(open.digests()).rejects.toThrow('closed')
    await expect(later().update(Buffer.from('abc'))).rejects.toThrow('closed')
    await threads.close()
  })
})

test('hash threads keep a process alive until they have answered, and no longer', async () => {
  const program = `
    import { startHashThreads } from ${JSON.stringify(new URL('./hash-threads.ts', import.meta.url).href)}
    const hasher = startHashThreads().hashers({ blake3: false, blake2b256: false, profiles: [] }, ${BIG})
    hasher.update(new Uint8Array(new SharedArrayBuffer(${BIG})))
    console.log((await hasher.digests()).sha256)
  `
  const dir = await mkdtemp(join(tmpdir(), 'lade-hash-threads-'))
  try {
    await writeFile(join(dir, 'program.mjs'), program)
    const { stdout } = await promisify(execFile)(process.execPath, [join(dir, 'program.mjs')])
    expect(stdout.trim()).toBe(digestWhole(Buffer.alloc(BIG), PLAIN).sha256)
  } finally {
    await rm(dir, { recursive: true })
  }
})
