import { setImmediate as turnOfLoop } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type BodyTurns, TurnsOfBodies } from './body-turns.ts'

const never = new AbortController().signal

describe('with two turns', () => {
  let turns: TurnsOfBodies
  const open = (principal: string, signal = never): BodyTurns => turns.open(principal, signal)
  /** Says whether a call has resolved by now. */
  const hasCome = async (call: Promise<void> | undefined): Promise<boolean> => {
    let come = false
    void Promise.resolve(call).then(() => {
      come = true
    })
    await turnOfLoop()
    return come
  }

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    turns = new TurnsOfBodies({ work: 'hash', budget: { rank: () => 0, heldBack() {} }, slots: 2 })
  })
  afterEach(() => vi.useRealTimers())

  test('a third body waits until one is over', async () => {
    const [one, two, three] = [open('a'), open('b'), open('c')]
    await one.take()
    await two.take()
    const third = three.take()
    expect(await hasCome(third)).toBe(false)
    one.rest()
    one.end()
    expect(await hasCome(third)).toBe(true)
  })

  test('a body that goes on keeps its turn', async () => {
    const [one, two, three] = [open('a'), open('b'), open('c')]
    await one.take()
    await two.take()
    const third = three.take()
    for (let block = 0; block < 5; block += 1) {
      one.rest()
      vi.advanceTimersByTime(900)
      await one.take()
    }
    expect(await hasCome(third)).toBe(false)
  })

  test('a body that stands still for a second gives its turn away, and waits for another when it goes on', async () => {
    const [one, two, three] = [open('a'), open('b'), open('c')]
    await one.take()
    await two.take()
    const third = three.take()
    one.rest()
    vi.advanceTimersByTime(1000)
    expect(await hasCome(third)).toBe(true)
    const again = one.take()
    expect(await hasCome(again)).toBe(false)
    two.rest()
    two.end()
    expect(await hasCome(again)).toBe(true)
  })

  test('a body that is being read does not stand still', async () => {
    const [one, two, three] = [open('a'), open('b'), open('c')]
    await one.take()
    await two.take()
    const third = three.take()
    vi.advanceTimersByTime(60_000)
    expect(await hasCome(third)).toBe(false)
  })

  test('error: a body that ends while it waits rejects with its reason, and takes no turn', async () => {
    const controller = new AbortController()
    const [one, two, three, four] = [open('a'), open('b'), open('c', controller.signal), open('d')]
    await one.take()
    await two.take()
    const third = three.take()
    const fourth = four.take()
    controller.abort(new Error('gone'))
    await expect(third).rejects.toThrow('gone')
    one.rest()
    one.end()
    expect(await hasCome(fourth)).toBe(true)
  })
})
