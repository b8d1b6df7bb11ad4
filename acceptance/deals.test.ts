import { describe, expect, test } from 'vitest'
import { expectProblem } from './problem.ts'
import type { FileEntry } from './shapes.ts'
import { sampleBytes, useTarget } from './target.ts'

const target = useTarget()

interface Deal {
  readonly dealId: string
  readonly cid: string
  readonly status: string
}

/** Where the deal of a live file can be, sooner or later. */
const PLACED = /^(staged|proposed|active)$/
const TIME_OR_NULL = expect.toSatisfy((time) => time === null || /Z$/.test(time))

describe('GET /api/deals', () => {
  test('lists the deal of every file with its documented fields, newest first and page by page', async (context) => {
    const user = await target.freshUser(context)
    const staged = []
    for (let at = 0; at < 3; at += 1) staged.push(await user.stage(sampleBytes(100 + at)))
    const page = (await user.get('/api/deals?limit=2')).json<{ deals: Deal[]; count: number; nextCursor: string }>()
    expect(page).toMatchObject({ userId: user.userId, email: user.email, count: 2 })
    const rest = (await user.get(`/api/deals?cursor=${page.nextCursor}`)).json<{ deals: Deal[]; nextCursor: null }>()
    expect(rest.nextCursor).toBeNull()
    const deals = [...page.deals, ...rest.deals]
    expect(deals.map(({ dealId }) => dealId)).toEqual(staged.map(({ dealId }) => dealId).reverse())
    const [oldest] = staged
    const file = (await user.get(`/api/files/${oldest?.cid}`)).json<FileEntry>()
    expect(deals.at(-1)).toEqual({
      dealId: oldest?.dealId,
      cid: oldest?.cid,
      pieceCid: oldest?.pieceCid,
      size: 100,
      status: expect.stringMatching(PLACED),
      statusAt: expect.stringMatching(/Z$/),
      cause: null,
      term: oldest?.term,
      createdAt: file.uploadedAt,
      expiresAt: oldest?.expiresAt,
      endedAt: null,
      retrievalUrl: oldest?.retrievalUrl,
      storedAt: TIME_OR_NULL,
      provedAt: TIME_OR_NULL,
      retrievableAt: TIME_OR_NULL,
      redundancy: expect.any(Number),
      provedCopies: expect.any(Number),
      onchainDealId: null,
      syntheticDealId: oldest?.dealId,
      aggregate: null,
      ipfs: null,
      copies: expect.any(Array),
    })
  })

  test('keeps deals of removed files, by their status', async (context) => {
    const user = await target.freshUser(context)
    const { cid } = await user.stage(sampleBytes())
    await user.stage(sampleBytes())
    await user.request('DELETE', `/api/files/${cid}`)
    const list = async (query: string) => (await user.get(`/api/deals${query}`)).json<{ deals: Deal[] }>().deals
    expect(await list('')).toHaveLength(2)
    expect((await list('')).filter(({ status }) => PLACED.test(status))).toHaveLength(1)
    expect(await list('?status=removed')).toMatchObject([
      { cid, status: 'removed', endedAt: expect.stringMatching(/Z$/) },
    ])
    expect(await list('?status=expired')).toEqual([])
  })

  test('refuses statuses, limits and cursors that are none', async (context) => {
    const user = await target.anyUser(context)
    for (const query of ['status=live', 'limit=0', 'limit=1001']) {
      expectProblem(await user.get(`/api/deals?${query}`), 400, 'bad_request')
    }
  })

  test('needs a token with the list scope', async (context) => {
    expectProblem(await target.anonymous().get('/api/deals'), 401, 'no_token')
    const narrow = await target.freshUser(context, { scopes: ['put', 'get', 'pin'] })
    expectProblem(await narrow.get('/api/deals'), 403, 'insufficient_scope')
    expectProblem(await narrow.get('/api/deals/d-0x00'), 403, 'insufficient_scope')
  })
})

describe('GET /api/deals/{dealId}', () => {
  test('answers a deal of mine, and not_found for every other', async (context) => {
    const user = await target.freshUser(context)
    const { dealId, cid } = await user.stage(sampleBytes())
    expect((await user.get(`/api/deals/${dealId}`)).json<Deal>()).toMatchObject({
      dealId,
      cid,
      status: expect.stringMatching(PLACED),
    })
    const other = await target.freshUser(context)
    for (const [who, id] of [
      [other, dealId],
      [user, `${dealId}0`],
      [user, 'd-0x'],
    ] as const) {
      expectProblem(await who.get(`/api/deals/${id}`), 404, 'not_found')
    }
  })
})
