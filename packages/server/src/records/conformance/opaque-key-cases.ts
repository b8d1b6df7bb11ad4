import { expect } from 'vitest'
import {
  ALICE,
  account,
  BOB,
  type Cases,
  claim,
  commit,
  counted,
  digestOf,
  NOW,
  pending,
  reserve,
  served,
  stage,
  stageAndRemove,
  upload,
} from './case.ts'

export function opaqueKeyCases({ it, itWithTwo }: Cases): void {
  const named = (content: string, principal = ALICE) => upload({ content, principal, key: 'opaque:myfile01' })

  it('binds an opaque key to the first bytes', async (store) => {
    expect(await served(store, 'opaque:myfile01')).toBe('absent')
    await stage(store, named('first'))
    expect(await served(store, 'opaque:myfile01')).toBe('first as bytes')
    await stage(store, named('first', BOB))
  })

  it('refuses other bytes under an opaque key, at the claim and at the commit', async (store) => {
    await stage(store, named('first'))
    const id = await reserve(store, named('second', BOB))
    const conflict = { outcome: 'conflict', object: digestOf('first') }
    expect(await claim(store, id, named('second', BOB))).toEqual(conflict)
    expect(await commit(store, id, named('second', BOB))).toEqual(conflict)
    await store.quotas.release({ reservationId: id, now: NOW })
    expect(await account(store, BOB)).toEqual({ charged: 0, reserved: 0, stored: 0 })
    expect(await pending(store)).toEqual([])
  })

  it('keeps the binding after the file is removed', async (store) => {
    await stageAndRemove(store, named('first'))
    const id = await reserve(store, named('second'))
    const conflict = { outcome: 'conflict', object: digestOf('first') }
    expect(await claim(store, id, named('second'))).toEqual(conflict)
    expect(await commit(store, id, named('second'))).toEqual(conflict)
    expect(await served(store, 'opaque:myfile01')).toBe('removed')
  })

  it('does not bind at the claim, only at the commit', async (store) => {
    const id = await reserve(store, named('first'))
    await claim(store, id, named('first'))
    expect(await served(store, 'opaque:myfile01')).toBe('absent')
    await stage(store, named('second', BOB))
    expect(await commit(store, id, named('first'))).toEqual({ outcome: 'conflict', object: digestOf('second') })
    await store.quotas.release({ reservationId: id, now: NOW })
    expect(await pending(store)).toEqual([digestOf('first')])
  })

  itWithTwo('gives an opaque key to one of two first uploads through two handles', async (store, other) => {
    const [mine, theirs] = await Promise.all([reserve(store, named('mine')), reserve(other, named('theirs', BOB))])
    const outcomes = await Promise.all([
      commit(store, mine, named('mine')),
      commit(other, theirs, named('theirs', BOB)),
    ])
    expect(counted(outcomes)).toEqual({ recorded: 1, conflict: 1 })
  })
}
