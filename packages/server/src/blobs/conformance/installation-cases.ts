import { expect } from 'vitest'
import { blobOf, type ConformanceCase, listed, put, remove } from './case.ts'

export const INSTALLATION_CASES: readonly ConformanceCase[] = [
  {
    title: 'has no text of an installation at first, and then the last that was written',
    async run({ store: { installation } }) {
      expect(await installation.read()).toBeUndefined()
      expect(await installation.write('{"id":"one"}')).toBe(true)
      expect(await installation.read()).toBe('{"id":"one"}')
      expect(await installation.write('{"id":"another", "and": "longer"}')).toBe(true)
      expect(await installation.read()).toBe('{"id":"another", "and": "longer"}')
      expect(await installation.write('{}')).toBe(true)
      expect(await installation.read()).toBe('{}')
    },
  },
  {
    title: 'writes the text of an installation only where there is none, when asked to',
    async run({ store: { installation } }) {
      expect(await installation.write('first', { ifAbsent: true })).toBe(true)
      expect(await installation.write('second', { ifAbsent: true })).toBe(false)
      expect(await installation.read()).toBe('first')
    },
  },
  {
    title: 'neither lists nor counts the text of an installation as a blob',
    async run({ store }) {
      const blob = blobOf('a blob')
      await store.installation.write('a text')
      await put(store, blob)
      expect(await listed(store)).toEqual([blob.sha256])
      expect(await store.pendingHolders()).not.toContain('installation.json')
      await remove(store, blob.sha256)
      expect(await store.installation.read()).toBe('a text')
    },
  },
  {
    title: 'keeps the text of an installation when it is opened again',
    needs: ['reopen'],
    async run(fixture) {
      await fixture.store.installation.write('kept')
      await fixture.store.close()
      if (fixture.subject.reopen !== undefined) fixture.store = await fixture.subject.reopen(fixture.store)
      expect(await fixture.store.installation.read()).toBe('kept')
    },
  },
  {
    title: 'error: says that the text of an installation cannot be read or written, and not that there is none',
    needs: ['breakNext'],
    async run({ store, subject }) {
      await store.installation.write('kept')
      subject.breakNext?.(store)
      await expect(store.installation.read()).rejects.toMatchObject({ code: 'storage_failed' })
      subject.breakNext?.(store)
      await expect(store.installation.write('lost')).rejects.toMatchObject({ code: 'storage_failed' })
      expect(await store.installation.read()).toBe('kept')
    },
  },
]
