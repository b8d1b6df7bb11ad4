import { DAY_MS } from '@lade/core/time'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openStagingFixture, PRINCIPAL, type StagingFixture } from '../testing/running/staging-fixture.ts'
import { SigningKey } from '../tokens/signing-key.ts'
import { type ListFilesInput, listFiles } from './list-files.ts'
import { pageCursors } from './page-cursor.ts'

const KEY = await SigningKey.fromBytes(Buffer.alloc(32, 1))
const cursorsOf = (principal: string) => pageCursors(() => KEY, { listing: 'files', principal })

describe('listFiles', () => {
  let fixture: StagingFixture
  beforeEach(async () => {
    fixture = await openStagingFixture()
  })
  afterEach(() => fixture.remove())

  const stageAll = async (count: number) => {
    for (let index = 0; index < count; index += 1) {
      const filename = `File ${index}.txt`
      await fixture.stage(Buffer.from(`body ${index}`), { head: { filename }, deps: { inlineBytes: 100 } })
    }
  }
  const list = (input: Partial<ListFilesInput> = {}) =>
    listFiles(fixture.records, {
      principal: PRINCIPAL,
      now: fixture.clock.now,
      cursors: cursorsOf(PRINCIPAL),
      ...input,
    })
  const names = async (input: Partial<ListFilesInput> = {}) =>
    (await list(input)).files.map(({ filename }) => filename?.replace(/\D/g, ''))

  it('lists newest first, and only the files of the principal', async () => {
    await stageAll(3)
    await fixture.stage(Buffer.from('x'), { tier: { principal: 'user:2' } })
    expect(await names()).toEqual(['2', '1', '0'])
    expect((await list()).nextCursor).toBeNull()
  })

  it('pages through everything exactly once, whatever the page size', async () => {
    await stageAll(7)
    for (const limit of ['1', '2', '3', '6', '7', '8', '1000']) {
      const seen: (string | undefined)[] = []
      let cursor: string | undefined
      do {
        const page = await list({ limit, cursor })
        expect(page.files.length).toBeLessThanOrEqual(Number(limit))
        seen.push(...page.files.map(({ filename }) => filename?.replace(/\D/g, '')))
        cursor = page.nextCursor ?? undefined
      } while (cursor !== undefined)
      expect(seen).toEqual(['6', '5', '4', '3', '2', '1', '0'])
    }
  })

  it('does not shift pages when files come and go meanwhile', async () => {
    await stageAll(4)
    const first = await list({ limit: '2' })
    await fixture.stage(Buffer.from('new'), { head: { filename: 'File 9.txt' } })
    const [newest] = first.files
    await fixture.records.files.remove({ principal: PRINCIPAL, key: newest?.key ?? '', now: fixture.clock.now })
    expect(await names({ limit: '2', cursor: first.nextCursor ?? '' })).toEqual(['1', '0'])
  })

  it('gives no page after the last one that is full', async () => {
    await stageAll(2)
    expect((await list({ limit: '2' })).nextCursor).toBeNull()
  })

  it('finds by a part of the name or the cid in any case, and takes wildcards literally', async () => {
    await stageAll(3)
    expect(await names({ q: 'fILE 1' })).toEqual(['1'])
    const [file] = (await list({ q: '2.txt' })).files
    expect(await names({ q: file?.cid.slice(5, 20).toUpperCase() })).toEqual(['2'])
    expect(await names({ q: '%' })).toEqual([])
    expect(await names({ q: 'File_1' })).toEqual([])
    expect(await names({ q: '' })).toEqual(['2', '1', '0'])
  })

  it('finds by media type with and without parameters', async () => {
    await fixture.stage(Buffer.from('a'), { head: { contentType: 'text/plain; charset=utf-8', filename: '1' } })
    await fixture.stage(Buffer.from('b'), { head: { contentType: 'text/plainer', filename: '2' } })
    expect(await names({ contentType: 'TEXT/plain' })).toEqual(['1'])
    expect(await names({ contentType: 'text/%' })).toEqual([])
  })

  it('finds by kind, and what ends within days', async () => {
    await fixture.stage(Buffer.from('a'), { head: { contentType: 'image/png', filename: '1', termDays: 9 } })
    await fixture.stage(Buffer.from('b'), { head: { contentType: 'application/zip', filename: '2', termDays: 2 } })
    expect(await names({ kind: 'image' })).toEqual(['1'])
    expect(await names({ kind: 'archive' })).toEqual(['2'])
    expect(await names({ endsWithinDays: '7' })).toEqual(['2'])
    expect(await names({ endsWithinDays: '9' })).toEqual(['2', '1'])
    expect(await names({ endsWithinDays: '9', kind: 'image' })).toEqual(['1'])
    fixture.clock.now += 2 * DAY_MS
    expect(await names({ endsWithinDays: '7' })).toEqual(['1'])
    expect(await names({ endsWithinDays: '7', status: 'expired' })).toEqual([])
  })

  it('lists what has ended only under its status', async () => {
    await stageAll(1)
    await fixture.stage(Buffer.from('b'), { head: { filename: '1', termDays: 1 } })
    await fixture.stage(Buffer.from('c'), { head: { filename: '2' } })
    const [removed] = (await list()).files
    await fixture.records.files.remove({ principal: PRINCIPAL, key: removed?.key ?? '', now: fixture.clock.now })
    fixture.clock.now += DAY_MS
    expect(await names()).toEqual(['0'])
    expect(await names({ status: 'staged' })).toEqual(['0'])
    expect(await names({ status: 'expired' })).toEqual(['1'])
    expect(await names({ status: 'removed' })).toEqual(['2'])
    expect(await names({ status: 'composed' })).toEqual([])
    await fixture.records.files.expire({ now: fixture.clock.now, limit: 10 })
    expect(await names({ status: 'expired' })).toEqual(['1'])
  })

  it.each(['0', '-1', '1001', '9999', '01', '1.5', '1e2', ' 1', '', 'x', '10000'])('refuses limit %j', (limit) =>
    expect(list({ limit })).rejects.toMatchObject({ code: 'bad_request' }),
  )

  it.each(['', '-1', 'A', '1.5', ' 1', 'zzzzzzzzzzzz', 'zzzzzzzzzzz', "1' OR 1", '__proto__'])(
    'refuses cursor %j',
    (cursor) => expect(list({ cursor })).rejects.toMatchObject({ code: 'invalid_cursor' }),
  )

  it('refuses the cursor of another caller, and that of another listing', async () => {
    await stageAll(2)
    const cursor = (await list({ limit: '1' })).nextCursor ?? ''
    const deals = pageCursors(() => KEY, { listing: 'deals', principal: PRINCIPAL })
    for (const cursors of [cursorsOf('user:2'), deals]) {
      await expect(list({ cursor, cursors })).rejects.toMatchObject({ code: 'invalid_cursor' })
    }
  })

  it.each(['Image', '', 'constructor'])('refuses kind %j', (kind) =>
    expect(list({ kind })).rejects.toMatchObject({ code: 'bad_request' }),
  )

  it.each(['0', '-1', '3651', '1.5', '', 'x'])('refuses endsWithinDays %j', (endsWithinDays) =>
    expect(list({ endsWithinDays })).rejects.toMatchObject({ code: 'bad_request' }),
  )

  it.each(['live', 'Staged', '', 'constructor'])('refuses status %j', (status) =>
    expect(list({ status })).rejects.toMatchObject({ code: 'bad_request' }),
  )
})
