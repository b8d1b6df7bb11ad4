import { describe, expect, test } from 'vitest'
import { rawCidOf } from './content-ids.ts'
import { expectProblem } from './problem.ts'
import type { FileEntry } from './shapes.ts'
import { sampleBytes, type User, useTarget } from './target.ts'

const target = useTarget()

async function stageMany(user: User, count: number): Promise<string[]> {
  const cids: string[] = []
  for (let at = 0; at < count; at += 1) {
    const { cid } = await user.stage(sampleBytes(10 + at), { filename: `file-${at}.txt` })
    cids.push(cid)
  }
  return cids
}

describe('GET /api/files', () => {
  test('a new user has no files', async (context) => {
    const user = await target.freshUser(context)
    expect(await user.files()).toEqual({
      userId: user.userId,
      email: user.email,
      count: 0,
      files: [],
      nextCursor: null,
    })
  })

  test('lists every documented field of a file', async (context) => {
    const user = await target.freshUser(context)
    const bytes = sampleBytes(1_234)
    const staged = await user.stage(bytes, { contentType: 'image/x-acceptance', filename: 'größe 1.bin' })
    const { files, count } = await user.files()
    expect(count).toBe(1)
    expect(files).toHaveLength(1)
    const [file] = files
    expect(file).toMatchObject({
      cid: staged.cid,
      size: 1_234,
      filename: 'größe 1.bin',
      contentType: 'image/x-acceptance',
      term: staged.term,
      sponsored: false,
      dealId: staged.dealId,
      visibility: 'public',
      retrievalUrl: staged.retrievalUrl,
      status: expect.any(String),
    })
    expect(Date.parse(file?.expiresAt ?? '')).toBe(Date.parse(staged.expiresAt))
    expect(Math.abs(Date.parse(file?.uploadedAt ?? '') - Date.now())).toBeLessThan(60_000)
    expect(Object.keys(file ?? {}).slice(0, 7)).toEqual([
      'cid',
      'size',
      'filename',
      'contentType',
      'uploadedAt',
      'term',
      'sponsored',
    ])
  })

  test('is newest first and pages without gaps or repeats', async (context) => {
    const user = await target.freshUser(context)
    const cids = await stageMany(user, 5)
    expect((await user.files()).files.map((file) => file.cid)).toEqual([...cids].reverse())
    const paged: FileEntry[] = []
    let cursor: string | null = ''
    let pages = 0
    while (cursor !== null && pages < 10) {
      const page = await user.files(`?limit=2${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`)
      expect(page.files.length).toBeLessThanOrEqual(2)
      paged.push(...page.files)
      cursor = page.nextCursor
      pages += 1
    }
    expect(pages).toBe(3)
    expect(paged.map((file) => file.cid)).toEqual([...cids].reverse())
  })

  test('a page stays where it was when a newer file arrives', async (context) => {
    const user = await target.freshUser(context)
    const cids = await stageMany(user, 4)
    const first = await user.files('?limit=2')
    await user.stage(sampleBytes())
    const second = await user.files(`?limit=2&cursor=${encodeURIComponent(first.nextCursor ?? '')}`)
    expect(second.files.map((file) => file.cid)).toEqual([cids[1], cids[0]])
  })

  test('q finds a part of the file name', async (context) => {
    const user = await target.freshUser(context)
    const cids = await stageMany(user, 3)
    expect((await user.files('?q=file-1')).files.map((file) => file.cid)).toEqual([cids[1]])
    expect((await user.files('?q=nothing-like-it')).files).toEqual([])
  })

  test.for(['%25', '_', "'", '%22', '%5C'])('q=%s is taken literally', async (q, context) => {
    const user = await target.freshUser(context)
    await stageMany(user, 2)
    expect((await user.files(`?q=${q}`)).files).toEqual([])
  })

  test('contentType filters', async (context) => {
    const user = await target.freshUser(context)
    const { cid } = await user.stage(sampleBytes(), { contentType: 'image/png' })
    await user.stage(sampleBytes(), { contentType: 'text/plain' })
    expect((await user.files('?contentType=image/png')).files.map((file) => file.cid)).toEqual([cid])
    expect((await user.files('?contentType=audio/ogg')).files).toEqual([])
  })

  test('kind filters', async (context) => {
    const user = await target.freshUser(context)
    const { cid } = await user.stage(sampleBytes(), { contentType: 'Text/Plain ; charset=utf-8' })
    await user.stage(sampleBytes(), { contentType: 'image/png' })
    expect((await user.files('?kind=text')).files.map((file) => file.cid)).toEqual([cid])
    expect((await user.files('?kind=archive')).files).toEqual([])
  })

  test('endsWithinDays filters', async (context) => {
    const user = await target.freshUser(context)
    const { cid } = await user.stage(sampleBytes(), { headers: { 'X-Term-Days': '2' } })
    await user.stage(sampleBytes(), { headers: { 'X-Term-Days': '9' } })
    expect((await user.files('?endsWithinDays=1')).files).toEqual([])
    expect((await user.files('?endsWithinDays=7')).files.map((file) => file.cid)).toEqual([cid])
    expect((await user.files('?endsWithinDays=30')).files).toHaveLength(2)
  })

  test('status filters', async (context) => {
    const user = await target.freshUser(context)
    const { cid } = await user.stage(sampleBytes())
    const status = (await user.files()).files[0]?.status
    expect((await user.files(`?status=${status}`)).files.map((file) => file.cid)).toEqual([cid])
    expect((await user.files('?status=expired')).files).toEqual([])
  })

  test.for([
    'limit=0',
    'limit=-1',
    'limit=x',
    'limit=1.5',
    'limit=1&limit=2',
    'status=nonsense',
    'kind=Image',
    'endsWithinDays=0',
    'endsWithinDays=9999',
  ])('refuses ?%s', async (query, context) => {
    expectProblem(await (await target.anyUser(context)).get(`/api/files?${query}`), 400, 'bad_request')
  })

  test.for(['cursor=%00', 'cursor=', 'cursor=7', `cursor=${'A'.repeat(32)}`, `cursor=${'A'.repeat(2000)}`])(
    'refuses ?%s',
    async (query, context) => {
      const user = await target.anyUser(context)
      for (const path of ['/api/files', '/api/deals']) {
        expectProblem(await user.get(`${path}?${query}`), 400, 'invalid_cursor')
      }
    },
  )

  test('a cursor of one user opens nothing of another', async (context) => {
    const [one, two] = [await target.freshUser(context), await target.freshUser(context)]
    await stageMany(one, 3)
    const { nextCursor } = await one.files('?limit=1')
    const answer = await two.get(`/api/files?cursor=${encodeURIComponent(nextCursor ?? '')}`)
    expectProblem(answer, 400, 'invalid_cursor')
  })
})

describe('GET /api/files/{cid}', () => {
  test('answers the same entry as the list, and under every alias of the cid', async (context) => {
    const user = await target.freshUser(context)
    const bytes = sampleBytes()
    const { cid } = await user.stage(bytes, { filename: 'one.txt' })
    const [listed] = (await user.files()).files
    expect((await user.get(`/api/files/${cid}`)).json<object>()).toMatchObject({ ...listed })
    expect((await user.get(`/api/files/${rawCidOf(bytes).base36}`)).status).toBe(200)
  })

  test('refuses the file of another user like one that does not exist', async (context) => {
    const [one, two] = [await target.freshUser(context), await target.freshUser(context)]
    const { cid } = await one.stage(sampleBytes())
    const foreign = expectProblem(await two.get(`/api/files/${cid}`), 404, 'not_found')
    const unknown = expectProblem(await two.get(`/api/files/${rawCidOf(sampleBytes()).base32}`), 404, 'not_found')
    const withoutCid = (detail: string) => detail.replace(/bafk\w+/, 'CID')
    expect(withoutCid(foreign.detail)).toBe(withoutCid(unknown.detail))
  })

  test('refuses a malformed cid', async (context) => {
    expectProblem(await (await target.anyUser(context)).get('/api/files/no'), 400, 'invalid_cid')
  })
})

describe('DELETE /api/files/{cid}', () => {
  test('the file leaves the listing, and its address answers 410 gone', async (context) => {
    const user = await target.freshUser(context)
    const { cid } = await user.stage(sampleBytes())
    const answer = await user.request('DELETE', `/api/files/${cid}`)
    expect([200, 204], answer.body.toString()).toContain(answer.status)
    expect((await user.files()).files).toEqual([])
    const entry = await user.get(`/api/files/${cid}`)
    if (entry.status === 200) expect(entry.json<FileEntry>().status).toBe('removed')
    else expectProblem(entry, [404, 410], ['not_found', 'gone'])
    const gone = await user.retrieve(cid)
    expect(expectProblem(gone, 410, 'gone')).toMatchObject({ reason: 'removed' })
    expect(gone.headers['cache-control']).toBe('no-store')
  })

  test('a file that two users staged stays until the last of them deletes it', async (context) => {
    const [one, two] = [await target.freshUser(context), await target.freshUser(context)]
    const bytes = sampleBytes()
    const { cid } = await one.stage(bytes)
    await two.stage(bytes)
    await one.request('DELETE', `/api/files/${cid}`)
    expect((await two.retrieve(cid)).body.equals(bytes)).toBe(true)
    expect((await two.files()).count).toBe(1)
    await two.request('DELETE', `/api/files/${cid}`)
    expect((await two.retrieve(cid)).status).toBe(410)
  })

  test('refuses the file of another user and leaves it where it is', async (context) => {
    const [one, two] = [await target.freshUser(context), await target.freshUser(context)]
    const { cid } = await one.stage(sampleBytes())
    expectProblem(await two.request('DELETE', `/api/files/${cid}`), 404, 'not_found')
    expect((await one.retrieve(cid)).status).toBe(200)
  })

  test('a deleted file can be staged again', async (context) => {
    const user = await target.freshUser(context)
    const bytes = sampleBytes()
    const { cid } = await user.stage(bytes)
    await user.request('DELETE', `/api/files/${cid}`)
    await user.stage(bytes)
    expect((await user.retrieve(cid)).body.equals(bytes)).toBe(true)
    expect((await user.files()).count).toBe(1)
  })

  test('refuses a file that is not there', async (context) => {
    const user = await target.anyUser(context)
    const answer = await user.request('DELETE', `/api/files/${rawCidOf(sampleBytes()).base32}`)
    expectProblem(answer, 404, 'not_found')
  })
})
