import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mergeByDigest } from './merge-by-digest.ts'

describe('mergeByDigest', () => {
  it('shows every put of either list once, in order, with the size that each side has', () => {
    const digest = fc.stringMatching(/^[0-9a-f]{1,2}$/)
    const put = fc.constantFrom('', 'a', 'b')
    const entry = fc.record({ sha256: digest, put, sizeBytes: fc.nat({ max: 9 }) })
    const nameOf = (one: { readonly sha256: string; readonly put: string }) => `${one.sha256}/${one.put}`
    const store = fc.uniqueArray(entry, { selector: nameOf })
    const records = fc.uniqueArray(entry, { selector: ({ sha256 }) => sha256 })
    fc.assert(
      fc.property(store, records, (stored, recorded) => {
        const inOrder = (list: typeof stored) => list.toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1))
        const merged = [...mergeByDigest(inOrder(stored), inOrder(recorded))]
        const digests = merged.map(({ sha256 }) => sha256)
        expect(digests).toEqual(digests.toSorted())
        const sizeIn = (list: typeof stored, name: string) => list.find((one) => nameOf(one) === name)?.sizeBytes
        const names = [...new Set([...stored, ...recorded].map(nameOf))].sort()
        expect(merged.toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1))).toEqual(
          names.map((name) => {
            const [sha256, put] = name.split('/')
            return { sha256, put, storedBytes: sizeIn(stored, name), recordedBytes: sizeIn(recorded, name) }
          }),
        )
      }),
    )
  })
})
