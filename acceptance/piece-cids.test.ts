/** `/api/piece-cids`: from any ids to the pieces of their bytes. */
import { describe, expect, test } from 'vitest'
import type { Caller } from './caller.ts'
import { hexOf, legacyOf, rawCidOf } from './content-ids.ts'
import { asCidV0, importFile, PROFILES, pieceCids, spellingsOf } from './network-ids.ts'
import { expectProblem } from './problem.ts'
import { sampleBytes, useTarget } from './target.ts'

const target = useTarget()

interface PieceCidsResult {
  readonly items: readonly Record<string, unknown>[]
  readonly missing: readonly string[]
}

const byQuery = (caller: Caller, cids: readonly string[]) =>
  caller.get(`/api/piece-cids?${cids.map((cid) => `cid=${cid}`).join('&')}`)
const byBody = (caller: Caller, cids: readonly string[]) => caller.post('/api/piece-cids', { cids })
const WAYS = [
  ['GET', byQuery],
  ['POST', byBody],
] as const

/** What is answered for some bytes, by the piece hasher of another project. */
function itemOf(cid: string, bytes: Uint8Array): Record<string, unknown> {
  const { v1, v2 } = pieceCids(bytes)
  const [[pieceCidV1] = [], [pieceCid] = []] = [spellingsOf(v1), spellingsOf(v2)]
  const quads = 2 ** Math.ceil(Math.log2(Math.max(1, Math.ceil(bytes.length / 127))))
  const sizes = { rawSize: bytes.length, paddedSize: 128 * quads, height: Math.log2(4 * quads) }
  return { cid, pieceCid, pieceCidV1, ...sizes, aggregate: null }
}

describe.for(WAYS)('%s /api/piece-cids', ([_method, ask]) => {
  test('answers any name of the bytes, in the order asked', async (context) => {
    const user = await target.anyUser(context)
    const [bytes, other] = [sampleBytes(1017), sampleBytes(127)]
    const { root } = await importFile(bytes, PROFILES['unixfs-v0-2015'])
    await user.stage(bytes, { cid: asCidV0(root) })
    await user.stage(other)
    const { v1, v2 } = pieceCids(bytes)
    const names = [hexOf(bytes), legacyOf(bytes), rawCidOf(bytes).base36, asCidV0(root), root.toV1().toString()]
    const pieces = [...spellingsOf(v1).slice(0, 2), ...spellingsOf(v2).slice(0, 2)]
    const absent = rawCidOf(sampleBytes()).base32
    const answer = await ask(user, [hexOf(other), ...names, absent, ...pieces])
    expect(answer.status).toBe(200)
    const { items, missing } = answer.json<PieceCidsResult>()
    expect(missing).toEqual([absent])
    expect(items).toEqual([itemOf(hexOf(other), other), ...[...names, ...pieces].map((name) => itemOf(name, bytes))])
  })

  test('answers a cid as often as it is asked for', async (context) => {
    const user = await target.anyUser(context)
    const bytes = sampleBytes()
    const { cid } = await user.stage(bytes)
    const absent = rawCidOf(sampleBytes()).base32
    const { items, missing } = (await ask(user, [cid, absent, cid, absent])).json<PieceCidsResult>()
    expect([items, missing]).toEqual([
      [itemOf(cid, bytes), itemOf(cid, bytes)],
      [absent, absent],
    ])
  })

  test("answers everybody's public files, and private ones to their owner", async (context) => {
    const [owner, other] = [await target.freshUser(context), await target.freshUser(context)]
    const [open, secret] = [sampleBytes(), sampleBytes()]
    await owner.stage(open)
    await owner.stage(secret, { headers: { 'X-Visibility': 'private' } })
    const cids = [hexOf(open), hexOf(secret)]
    expect((await ask(owner, cids)).json<PieceCidsResult>().missing).toEqual([])
    expect((await ask(other, cids)).json<PieceCidsResult>()).toEqual({
      items: [itemOf(hexOf(open), open)],
      missing: [hexOf(secret)],
    })
  })

  test('a cid that is none is 400, and is named', async (context) => {
    const user = await target.anyUser(context)
    const answer = await ask(user, [rawCidOf(sampleBytes()).base32, 'short'])
    expect(expectProblem(answer, 400, 'invalid_cid').detail).toContain('short')
  })

  test('needs a token with the list scope', async (context) => {
    const cids = [rawCidOf(sampleBytes()).base32]
    expectProblem(await ask(target.anonymous(), cids), 401, 'no_token')
    expectProblem(
      await ask(await target.freshUser(context, { scopes: ['put', 'get'] }), cids),
      403,
      'insufficient_scope',
    )
  })
})

describe('how many', () => {
  const texts = (count: number) =>
    Array.from({ length: count }, (_, index) => `opaque${String(index).padStart(74, '0')}`)

  test('GET takes 100 cids, and 101 are 400', async (context) => {
    const user = await target.anyUser(context)
    const short = Array.from({ length: 101 }, (_, index) => `opaque${String(index).padStart(4, '0')}`)
    expect((await byQuery(user, short.slice(1))).json<PieceCidsResult>().missing).toHaveLength(100)
    expectProblem(await byQuery(user, short), 400, 'bad_request')
  })

  test('POST takes 1,000 cids of the greatest length, and 1,001 are 400', async (context) => {
    const user = await target.anyUser(context)
    const answer = await byBody(user, texts(1000))
    expect(answer.status).toBe(200)
    expect(answer.json<PieceCidsResult>().missing).toEqual(texts(1000))
    expectProblem(await byBody(user, texts(1001)), 400, 'bad_request')
  })

  test('a body without cids is refused', async (context) => {
    const user = await target.anyUser(context)
    expectProblem(await user.post('/api/piece-cids', { cids: [] }), 400, 'bad_request')
    expectProblem(await user.post('/api/piece-cids', { cids: 'x' }), 400, 'bad_request')
    expectProblem(await user.post('/api/piece-cids', {}), 400, 'bad_request')
    expectProblem(await user.get('/api/piece-cids'), 400, 'bad_request')
  })
})
