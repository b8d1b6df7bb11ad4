import { FILE_KINDS, fileKindOf, KIND_TYPES } from '@lade/core/wire'
import { expect } from 'vitest'
import type { RecordStore } from '../record-store.ts'
import { ALICE, BOB, type Cases, NOW, stage, times, type Upload, upload } from './case.ts'

export function listingCases({ it }: Cases): void {
  const list = async (store: RecordStore, filters: Partial<Parameters<RecordStore['files']['list']>[0]> = {}) => {
    const files = await store.files.list({ principal: ALICE, now: NOW, limit: 100, ...filters })
    return files.map((file) => file.filename)
  }
  const stageNamed = (store: RecordStore, filename: string, overrides: Partial<Upload> = {}) =>
    stage(store, upload({ content: filename, filename, capBytes: 1_000_000, ...overrides }))

  for (const count of [0, 1, 5, 100]) {
    it(`lists ${count} files newest first, page by page`, async (store) => {
      const names = times(count, (index) => `file ${index}`)
      for (const name of names) await stageNamed(store, name)
      const pages: string[] = []
      let beforeSequence: number | undefined
      for (;;) {
        const cursor = beforeSequence === undefined ? {} : { beforeSequence }
        const page = await store.files.list({ principal: ALICE, now: NOW, limit: 7, ...cursor })
        pages.push(...page.map((file) => file.filename ?? ''))
        if (page.length < 7) break
        beforeSequence = page.at(-1)?.sequence
      }
      expect(pages).toEqual(names.toReversed())
    })
  }

  it('lists the files of one principal, live and ended', async (store) => {
    await stageNamed(store, 'live')
    await stageNamed(store, 'removed')
    await stageNamed(store, 'other', { principal: BOB })
    await store.files.remove({ principal: ALICE, key: upload({ content: 'removed' }).key, now: NOW })
    expect(await list(store)).toEqual(['removed', 'live'])
  })

  it('tells live, removed and expired files apart, swept or not', async (store) => {
    await stageNamed(store, 'live')
    await stageNamed(store, 'removed')
    await stageNamed(store, 'swept', { expiresAt: NOW - 1 })
    await store.files.remove({ principal: ALICE, key: upload({ content: 'removed' }).key, now: NOW })
    await store.files.expire({ now: NOW, limit: 10 })
    await stageNamed(store, 'unswept', { expiresAt: NOW })
    expect(await list(store, { ended: 'live' })).toEqual(['live'])
    expect(await list(store, { ended: 'removed' })).toEqual(['removed'])
    expect(await list(store, { ended: 'expired' })).toEqual(['unswept', 'swept'])
  })

  it('searches a part of the name or the cid, with ASCII case folded', async (store) => {
    await stageNamed(store, 'Quarterly REPORT.pdf')
    await stageNamed(store, 'notes.txt')
    await stage(store, upload({ content: 'Unnamed', filename: null }))
    expect(await list(store, { search: 'report' })).toEqual(['Quarterly REPORT.pdf'])
    expect(await list(store, { search: 'Y rEpO' })).toEqual(['Quarterly REPORT.pdf'])
    expect(await list(store, { search: 'cid-of-UNNAMED' })).toEqual([null])
    expect(await list(store, { search: 'nowhere' })).toEqual([])
  })

  it('searches letters outside ASCII as they are', async (store) => {
    await stageNamed(store, 'Étude.mid')
    expect(await list(store, { search: 'ÉTUDE' })).toEqual(['Étude.mid'])
    expect(await list(store, { search: 'étude' })).toEqual([])
  })

  it('takes wildcards in a search and in a content type literally', async (store) => {
    await stageNamed(store, '100%.txt', { contentType: 'x/a%b; v=1' })
    await stageNamed(store, '100 percent_.txt', { contentType: 'x/aXb; v=1' })
    await stageNamed(store, 'back\\slash.txt', { contentType: 'x/a_b; v=1' })
    expect(await list(store, { search: '%' })).toEqual(['100%.txt'])
    expect(await list(store, { search: '_' })).toEqual(['100 percent_.txt'])
    expect(await list(store, { search: '\\' })).toEqual(['back\\slash.txt'])
    expect(await list(store, { contentType: 'x/a%b' })).toEqual(['100%.txt'])
    expect(await list(store, { contentType: 'x/a_b' })).toEqual(['back\\slash.txt'])
  })

  it('finds a content type with or without parameters, in any case', async (store) => {
    await stageNamed(store, 'plain', { contentType: 'text/plain' })
    await stageNamed(store, 'with charset', { contentType: 'Text/Plain;charset=utf-8' })
    await stageNamed(store, 'upper', { contentType: 'TEXT/PLAIN' })
    await stageNamed(store, 'longer', { contentType: 'text/plain-ish' })
    expect(await list(store, { contentType: 'text/plain' })).toEqual(['upper', 'with charset', 'plain'])
    expect(await list(store, { contentType: 'text/plain;charset=utf-8' })).toEqual(['with charset'])
    expect(await list(store, { contentType: 'text' })).toEqual([])
  })

  it('finds the kind of every media type as core does', async (store) => {
    const types = [
      ...KIND_TYPES.flatMap(({ prefixes = [], types = [], suffixes = [] }) => [
        ...types,
        ...prefixes.map((prefix) => `${prefix}x`),
        ...suffixes.map((suffix) => `application/x${suffix}`),
      ]),
      ...['application/octet-stream', 'imagery/png', 'application/x; a="+zip"', 'IMAGE/PNG', 'application/ZIP ; a=b'],
      ...['text\t/plain', 'application/pdf\t;v=1', 'application/_pdf', 'x/y'],
    ]
    for (const contentType of types) await stageNamed(store, contentType, { contentType })
    for (const kind of FILE_KINDS) {
      const wanted = types.filter((contentType) => fileKindOf(contentType) === kind)
      expect(new Set(await list(store, { kind, ended: 'live' })), kind).toEqual(new Set(wanted))
      expect(new Set(await list(store, { kind })), kind).toEqual(new Set(wanted))
    }
  })

  it('finds live files that end until a time', async (store) => {
    await stageNamed(store, 'later', { expiresAt: NOW + 101 })
    await stageNamed(store, 'then', { expiresAt: NOW + 100 })
    await stageNamed(store, 'soon', { expiresAt: NOW + 1 })
    await stageNamed(store, 'removed', { expiresAt: NOW + 1 })
    await stageNamed(store, 'unswept', { expiresAt: NOW })
    await store.files.remove({ principal: ALICE, key: upload({ content: 'removed' }).key, now: NOW })
    for (const ended of [{}, { ended: 'live' as const }]) {
      expect(await list(store, { endsUntil: NOW + 100, ...ended })).toEqual(['soon', 'then'])
      expect(await list(store, { endsUntil: NOW + 100, limit: 1, ...ended })).toEqual(['soon'])
      expect(await list(store, { endsUntil: NOW, ...ended })).toEqual([])
    }
    expect(await list(store, { endsUntil: NOW + 100, ended: 'removed' })).toEqual([])
    expect(await list(store, { endsUntil: NOW + 100, ended: 'expired' })).toEqual([])
  })

  it('counts back from the newest file or from any, over all or those that have not been ended', async (store) => {
    const files = await Promise.all(['a', 'b', 'c', 'd'].map((name) => stageNamed(store, name)))
    await stageNamed(store, 'other', { principal: BOB })
    const [first, second, third, fourth] = files.map(({ sequence }) => sequence).sort((one, other) => one - other)
    const removed = files.find(({ sequence }) => sequence === third)
    await store.files.remove({ principal: ALICE, key: removed?.key ?? '', now: NOW })
    const back = (count: number, isOpen: boolean, beforeSequence?: number) =>
      store.files.countBack({
        principal: ALICE,
        count,
        isOpen,
        ...(beforeSequence === undefined ? {} : { beforeSequence }),
      })
    expect(await back(1, false)).toBe(fourth)
    expect(await back(4, false)).toBe(first)
    expect(await back(5, false)).toBeUndefined()
    expect(await back(2, true)).toBe(second)
    expect(await back(1, false, fourth)).toBe(third)
    expect(await back(1, true, fourth)).toBe(second)
    expect(await back(1, true, first)).toBeUndefined()
  })

  it('lists from a file on, which counts', async (store) => {
    await stageNamed(store, 'a report')
    const { sequence: fromSequence } = await stageNamed(store, 'b report')
    await stageNamed(store, 'c report')
    expect(await list(store, { search: 'report', fromSequence })).toEqual(['c report', 'b report'])
    expect(await list(store, { fromSequence, ended: 'live' })).toEqual(['c report', 'b report'])
    const deals = await store.files.listDeals({ principal: ALICE, now: NOW, limit: 100, fromSequence })
    expect(deals.map(({ filename }) => filename)).toEqual(['c report', 'b report'])
  })

  it('finds nothing under text that has a NUL in it', async (store) => {
    await stageNamed(store, 'a report')
    expect(await list(store, { search: 'a\0' })).toEqual([])
    expect(await list(store, { contentType: 'text/plain\0' })).toEqual([])
    expect(await store.files.byDeal({ principal: ALICE, dealId: 'd-0x\0' })).toBeUndefined()
    expect(await store.tokens.revocation('\0')).toBeUndefined()
    expect(await store.tokens.revoke({ jti: '\0', sub: 'alice', now: NOW, keepsLinks: false })).toBeUndefined()
  })

  it('applies all filters together with the cursor', async (store) => {
    await stageNamed(store, 'a report', { contentType: 'text/html' })
    await stageNamed(store, 'b report', { contentType: 'text/html' })
    const cursor = await stageNamed(store, 'c report')
    await stageNamed(store, 'd report', { contentType: 'text/html' })
    const filters = { search: 'report', contentType: 'text/html', ended: 'live' } as const
    expect(await list(store, { ...filters, beforeSequence: cursor.sequence, limit: 1 })).toEqual(['b report'])
  })
}
