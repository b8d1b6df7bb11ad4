import { expect } from 'vitest'
import {
  account,
  BOB,
  type Cases,
  commit,
  commitAtOnce,
  counted,
  digestOf,
  NOW,
  pending,
  reserve,
  served,
  stage,
  stageAndRemove,
  times,
  tryReserve,
  upload,
} from './case.ts'

export function lifecycleCases({ it, itWithTwo, itAcrossRestart, itBroken }: Cases): void {
  it('answers a check and names its engine', async (store) => {
    await store.check()
    expect(store.traits.engine).not.toBe('')
  })

  itWithTwo('changes its generation with what is found under a key, and not with new bytes', async (store, other) => {
    if (store.generation === undefined || other.generation === undefined) return
    const handles = [store.generation, other.generation]
    const isChangedBy = async (change: () => Promise<unknown>): Promise<boolean> => {
      const before = handles.map((generation) => generation())
      await change()
      const differing = handles.filter((generation, index) => generation() !== before[index])
      expect([0, handles.length]).toContain(differing.length)
      return differing.length > 0
    }
    const uploads = ['one', 'two', 'three'].map((content) => upload({ content }))
    for (const one of uploads) expect(await isChangedBy(() => stage(store, one))).toBe(false)
    const together = ['four', 'five'].map((content) => upload({ content }))
    expect(await isChangedBy(() => Promise.all(together.map((one) => commitAtOnce(store, one))))).toBe(false)
    expect(await isChangedBy(() => reserve(store, upload({ content: 'on its way' })))).toBe(false)
    expect(await isChangedBy(() => stage(store, upload({ content: 'two', principal: BOB })))).toBe(true)
    const { key, principal } = upload({ content: 'one' })
    expect(await isChangedBy(() => store.files.remove({ principal, key, now: NOW }))).toBe(true)
  })

  itWithTwo('shows a change through another handle', async (store, other) => {
    const file = await stage(store, upload({ inline: Buffer.from('hello') }))
    expect(await other.files.bySequence(file.sequence)).toEqual(file)
    expect(await account(other)).toEqual({ charged: 100, reserved: 0, stored: 100 })
  })

  itAcrossRestart('survives a restart', async (store, restart) => {
    const file = await stage(store, upload({ inline: Buffer.from('hello') }))
    const open = upload({ content: 'open', sizeBytes: 7 })
    const id = await reserve(store, open)
    await stageAndRemove(store, upload({ content: 'removed', key: 'opaque:myfile01' }))
    await store.instances.register({ instanceId: 'instance-a', now: NOW })
    const again = await restart()
    expect(await again.files.bySequence(file.sequence)).toEqual(file)
    expect(Buffer.from((await again.files.inlineBytes(file.object)) ?? []).toString()).toBe('hello')
    expect(await served(again, 'opaque:myfile01')).toBe('removed')
    expect(await pending(again)).toEqual([digestOf('removed')])
    expect(await again.instances.list()).toEqual(['instance-a'])
    expect(await account(again)).toEqual({ charged: 200, reserved: 7, stored: 100 })
    expect(await commit(again, id, open)).toMatchObject({ outcome: 'recorded' })
  })

  itBroken('error: a broken medium is storage_failed, and never an absence', async (store, breakNow) => {
    const file = await stage(store, upload())
    breakNow()
    await expect(store.files.bySequence(file.sequence)).rejects.toMatchObject({ code: 'storage_failed' })
    await expect(store.files.serving({ key: file.key, now: NOW })).rejects.toMatchObject({
      code: 'storage_failed',
    })
    await expect(tryReserve(store, upload({ content: 'next' }))).rejects.toMatchObject({ code: 'storage_failed' })
  })

  it('finishes the writes that were asked for before it closes', async (store) => {
    const reservations = times(20, (index) => tryReserve(store, upload({ content: `file ${index}`, sizeBytes: 1 })))
    await store.close()
    expect(counted((await Promise.all(reservations)).map(({ reserved }) => reserved))).toEqual({ reserved: 20 })
  })

  it('closes twice without complaint', async (store) => {
    await Promise.all([store.close(), store.close()])
    await store.close()
  })

  it('refuses reads and writes after it is closed', async (store) => {
    await store.close()
    await expect(tryReserve(store, upload())).rejects.toMatchObject({ code: 'storage_failed' })
    await expect(store.files.bySequence(1)).rejects.toMatchObject({ code: 'storage_failed' })
    await expect(store.check()).rejects.toMatchObject({ code: 'storage_failed' })
  })
}
