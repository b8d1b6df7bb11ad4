import { describe, expect, test } from 'vitest'
import { FairQueue } from './fair-queue.ts'

/** A queue of one slot unless told otherwise, whose principals have used what `used` says. */
function queueWith(used: Record<string, number>, options: Partial<ConstructorParameters<typeof FairQueue>[0]> = {}) {
  const heldBack: object[] = []
  const budget = { rank: (name: string) => used[name] ?? 0, heldBack: (event: object) => void heldBack.push(event) }
  return { queue: new FairQueue({ work: 'hash', budget, slots: 1, ...options }), heldBack }
}

/** A task that ends when it is told to. */
function heldTask(name: string, order: string[]) {
  const { promise, resolve } = Promise.withResolvers<void>()
  const task = async () => {
    order.push(name)
    await promise
  }
  return { task, end: resolve }
}

describe('a fair queue', () => {
  test('serves first whoever has used the least, and each principal in its own order', async () => {
    const { queue } = queueWith({ big: 1000, small: 10 })
    const order: string[] = []
    const first = heldTask('big 1', order)
    const runs = [queue.run('big', first.task)]
    for (const name of ['big 2', 'big 3']) runs.push(queue.run('big', async () => void order.push(name)))
    for (const name of ['small 1', 'small 2']) runs.push(queue.run('small', async () => void order.push(name)))
    expect(queue.size).toBe(5)
    first.end()
    await Promise.all(runs)
    expect(order).toEqual(['big 1', 'small 1', 'small 2', 'big 2', 'big 3'])
    expect(queue.size).toBe(0)
  })

  test('serves later a principal that uses more while it waits', async () => {
    const used: Record<string, number> = { a: 1, b: 2 }
    const { queue } = queueWith(used)
    const order: string[] = []
    const first = heldTask('first', order)
    const runs = [queue.run('c', first.task)]
    for (const name of ['a', 'b']) runs.push(queue.run(name, async () => void order.push(name)))
    used.a = 3
    first.end()
    await Promise.all(runs)
    expect(order).toEqual(['first', 'b', 'a'])
  })

  test('keeps no principal from the slots that one may not take', async () => {
    const { queue } = queueWith({}, { slots: 3, slotsPerPrincipal: 2 })
    const order: string[] = []
    const tasks = ['a 1', 'a 2', 'a 3'].map((name) => heldTask(name, order))
    const runs = tasks.map(({ task }) => queue.run('a', task))
    await queue.run('b', async () => void order.push('b'))
    expect(order).toEqual(['a 1', 'a 2', 'b'])
    for (const { end } of tasks) end()
    await Promise.all(runs)
    expect(order).toEqual(['a 1', 'a 2', 'b', 'a 3'])
  })

  test('refuses what a principal has waiting beyond its limit', async () => {
    const { queue, heldBack } = queueWith({}, { waitingPerPrincipal: 1 })
    const order: string[] = []
    const held = heldTask('a 1', order)
    const runs = [queue.run('a', held.task), queue.run('a', async () => {})]
    await expect(queue.run('a', async () => {})).rejects.toMatchObject({
      code: 'over_budget',
      evidence: { work: 'hash', unit: 'requests', used: 2, limit: 2, retryAfterSeconds: 1 },
    })
    expect(heldBack).toEqual([{ principal: 'a', work: 'hash', how: 'refused' }])
    runs.push(queue.run('b', async () => {}))
    held.end()
    await Promise.all(runs)
  })

  test('leaves out a task whose caller has gone, and goes on after one that failed', async () => {
    const { queue } = queueWith({})
    const order: string[] = []
    const held = heldTask('a', order)
    const first = queue.run('a', held.task)
    const controller = new AbortController()
    const gone = queue.run('a', async () => void order.push('gone'), controller.signal)
    const failing = queue.run('a', () => Promise.reject(new Error('no good')))
    controller.abort(new Error('the caller has gone'))
    await expect(gone).rejects.toThrow('the caller has gone')
    held.end()
    await first
    await expect(failing).rejects.toThrow('no good')
    await queue.run('a', async () => void order.push('last'))
    expect(order).toEqual(['a', 'last'])
    expect(queue.size).toBe(0)
  })
})
