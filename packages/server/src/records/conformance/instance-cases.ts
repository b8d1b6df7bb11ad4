import { expect } from 'vitest'
import { account, type Cases, claim, commit, digestOf, NOW, pending, reserve, stageAndRemove, upload } from './case.ts'

export function instanceCases({ it }: Cases): void {
  it('lists the instances that registered and were not deregistered', async (store) => {
    expect(await store.instances.list()).toEqual([])
    for (const instanceId of ['instance-b', 'instance-a']) await store.instances.register({ instanceId, now: NOW })
    expect(await store.instances.list()).toEqual(['instance-a', 'instance-b'])
    await store.instances.deregister({ instanceId: 'instance-b', now: NOW })
    expect(await store.instances.list()).toEqual(['instance-a'])
  })

  it('returns the reservations of a deregistered instance and leaves those of others', async (store) => {
    await store.instances.register({ instanceId: 'instance-a', now: NOW })
    const dead = await reserve(store, upload({ content: 'dead' }))
    const alive = await reserve(store, upload({ content: 'alive', instanceId: 'instance-b', now: NOW }))
    expect(await store.instances.deregister({ instanceId: 'instance-a', now: NOW })).toEqual({ reservations: 1 })
    expect(await store.instances.deregister({ instanceId: 'instance-a', now: NOW })).toEqual({ reservations: 0 })
    expect(await claim(store, dead, upload({ content: 'dead' }))).toEqual({ outcome: 'lost' })
    expect(await commit(store, dead, upload({ content: 'dead' }))).toEqual({ outcome: 'lost' })
    expect(await commit(store, alive, upload({ content: 'alive' }))).toMatchObject({ outcome: 'recorded' })
    expect(await account(store)).toEqual({ charged: 100, reserved: 0, stored: 100 })
  })

  it('turns the claims of a deregistered instance into discards, unless another needs the bytes', async (store) => {
    const shared = upload({ content: 'shared' })
    for (const one of [upload({ content: 'alone' }), shared, { ...shared, instanceId: 'instance-b' }]) {
      await claim(store, await reserve(store, one), one)
    }
    await store.instances.deregister({ instanceId: 'instance-a', now: NOW })
    expect(await pending(store)).toEqual([digestOf('alone')])
  })

  it('plans again the discards that a deregistered instance had begun', async (store) => {
    await stageAndRemove(store, upload({ content: 'mine' }))
    await stageAndRemove(store, upload({ content: 'theirs' }))
    await store.discards.begin({ sha256: digestOf('mine'), put: '', instanceId: 'instance-a', now: NOW })
    await store.discards.begin({ sha256: digestOf('theirs'), put: '', instanceId: 'instance-b', now: NOW })
    await store.instances.deregister({ instanceId: 'instance-a', now: NOW })
    expect(await pending(store)).toEqual([digestOf('mine')])
    expect(await store.discards.begin({ sha256: digestOf('mine'), put: '', instanceId: 'instance-b', now: NOW })).toBe(
      true,
    )
  })
}
