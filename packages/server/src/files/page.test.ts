import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStagingFixture, PRINCIPAL, type StagingFixture } from '../testing/running/staging-fixture.ts'
import { SigningKey } from '../tokens/signing-key.ts'
import { filteredPage, readPage } from './page.ts'
import { type PageCursors, pageCursors } from './page-cursor.ts'

const FILES = 12

describe('filteredPage', () => {
  let fixture: StagingFixture
  let cursors: PageCursors
  beforeAll(async () => {
    fixture = await openStagingFixture()
    const key = await SigningKey.fromBytes(Buffer.alloc(32, 1))
    cursors = pageCursors(() => key, { listing: 'files', principal: PRINCIPAL })
    for (let index = 0; index < FILES; index += 1) {
      const filename = index % 5 === 1 ? `rare ${index}` : `file ${index}`
      await fixture.stage(Buffer.from(`body ${index}`), { head: { filename }, deps: { inlineBytes: 100 } })
    }
    const [newest] = await fixture.records.files.list({ principal: PRINCIPAL, now: fixture.clock.now, limit: 1 })
    await fixture.records.files.remove({ principal: PRINCIPAL, key: newest?.key ?? '', now: fixture.clock.now })
  })
  afterAll(() => fixture.remove())

  const page = (asked: { cursor?: string | undefined; limit: string }, mostLookedAt: number, isOpen: boolean) =>
    filteredPage(
      fixture.records,
      { ...readPage({ ...asked, cursors }, 1000), principal: PRINCIPAL, isOpen, mostLookedAt },
      (request) =>
        fixture.records.files.list({
          ...request,
          principal: PRINCIPAL,
          now: fixture.clock.now,
          search: 'rare',
          ...(isOpen ? { ended: 'live' as const } : {}),
        }),
    )

  it('gives what passes once and in order, however few files a page looks at', () =>
    fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 15 }),
        fc.integer({ min: 1, max: 15 }),
        fc.boolean(),
        async (limit, most, isOpen) => {
          const seen: (string | null)[] = []
          let cursor: string | undefined
          let pages = 0
          do {
            const { files, nextCursor } = await page({ limit: String(limit), cursor }, most, isOpen)
            expect(files.length).toBeLessThanOrEqual(Math.min(limit, most))
            seen.push(...files.map(({ filename }) => filename))
            cursor = nextCursor ?? undefined
            pages += 1
          } while (cursor !== undefined && pages <= FILES + 1)
          expect(cursor).toBeUndefined()
          expect(seen).toEqual(isOpen ? ['rare 6', 'rare 1'] : ['rare 11', 'rare 6', 'rare 1'])
        },
      ),
      { numRuns: 60 },
    ))

  it('may be empty before a page that follows', async () => {
    const { files, nextCursor } = await page({ limit: '5' }, 3, true)
    expect(files).toEqual([])
    expect(nextCursor).not.toBeNull()
  })
})
