import { expect } from 'vitest'
import { type Cases, stage, times, upload } from './case.ts'

export function installationCases({ it, itWithTwo, itAcrossRestart }: Cases): void {
  it('knows no installation at first, and then the one that was offered first', async ({ installation }) => {
    expect(await installation.find()).toBeUndefined()
    expect(await installation.offer('one')).toEqual({ id: 'one', isPaired: false, progress: 0 })
    expect(await installation.offer('two')).toEqual({ id: 'one', isPaired: false, progress: 0 })
    expect(await installation.find()).toEqual({ id: 'one', isPaired: false, progress: 0 })
  })

  it('notes that the objects have the id, and not for another id', async ({ installation }) => {
    await installation.offer('one')
    await installation.pair('two')
    expect(await installation.find()).toMatchObject({ id: 'one', isPaired: false })
    await installation.pair('one')
    expect(await installation.find()).toMatchObject({ id: 'one', isPaired: true })
  })

  it('error: raises nothing where there is no installation', async ({ installation }) => {
    await expect(installation.raise()).rejects.toMatchObject({ code: 'storage_failed' })
  })

  it('becomes another installation, known or not', async ({ installation }) => {
    const installations = [
      { id: 'one', isPaired: true, progress: 7 },
      { id: 'two', isPaired: false, progress: 3 },
      { id: 'two', isPaired: true, progress: 0 },
    ]
    for (const other of installations) {
      await installation.replace(other)
      expect(await installation.find()).toEqual(other)
    }
  })

  itWithTwo('gives all who offer at once the same id, and all who raise at once another number', async (one, other) => {
    const storeOf = (index: number) => (index % 2 === 0 ? one : other).installation
    const offered = await Promise.all(times(10, (index) => storeOf(index).offer(`${index}`)))
    expect(new Set(offered.map(({ id }) => id)).size).toBe(1)
    const raised = await Promise.all(times(10, (index) => storeOf(index).raise()))
    expect(raised.toSorted((a, b) => a - b)).toEqual(times(10, (index) => index + 1))
  })

  itAcrossRestart('keeps the id and how far the records have come', async (store, restart) => {
    await store.installation.offer('one')
    await store.installation.pair('one')
    await store.installation.raise()
    expect(await (await restart()).installation.find()).toEqual({ id: 'one', isPaired: true, progress: 1 })
  })

  it('counts what was promised, and not what keeps the records in order', async (store) => {
    await store.installation.offer('one')
    await store.instances.register({ instanceId: 'instance-a', now: 0 })
    await store.installation.raise()
    expect(store.installation.promised()).toBe(0)
    await stage(store, upload({ content: 'promised' }))
    expect(store.installation.promised()).toBe(1)
  })
}
