import { describe, expect, test } from 'vitest'
import { headerOf } from './caller.ts'
import { sha256 } from './content-ids.ts'
import { expectProblem } from './problem.ts'
import { sampleBytes, useTarget } from './target.ts'

const target = useTarget()
const SIZE = 1_000

async function staged(sizeBytes = SIZE) {
  const caller = target.anonymous()
  const bytes = sampleBytes(sizeBytes)
  const { cid } = await caller.stage(bytes)
  const read = (range: string, headers: Record<string, string> = {}) =>
    caller.retrieve(cid, { headers: { Range: range, ...headers } })
  return { bytes, cid, read }
}

describe('a single range', () => {
  test.for([
    ['the first byte', 'bytes=0-0', 0, 1],
    ['the first hundred', 'bytes=0-99', 0, 100],
    ['the middle', 'bytes=400-599', 400, 600],
    ['the last byte by number', 'bytes=999-999', 999, 1_000],
    ['the last byte by suffix', 'bytes=-1', 999, 1_000],
    ['a suffix', 'bytes=-300', 700, 1_000],
    ['a suffix longer than the file', 'bytes=-5000', 0, 1_000],
    ['an open range', 'bytes=250-', 250, 1_000],
    ['an open range from the start', 'bytes=0-', 0, 1_000],
    ['an end past the file', 'bytes=900-99999', 900, 1_000],
    ['the unit in upper case', 'Bytes=0-9', 0, 10],
  ] as const)('%s (%s) answers 206', async ([, range, from, to]) => {
    const { bytes, cid, read } = await staged()
    const answer = await read(range)
    expect(answer.status).toBe(206)
    expect(answer.body.equals(bytes.subarray(from, to))).toBe(true)
    expect(answer.headers).toMatchObject({
      'content-range': `bytes ${from}-${to - 1}/${SIZE}`,
      'content-length': String(to - from),
      'content-type': 'text/plain',
      etag: `"${cid}"`,
      'cache-control': 'public, max-age=3600',
      'accept-ranges': 'bytes',
      'repr-digest': `sha-256=:${sha256(bytes).toString('base64')}:`,
      'x-content-type-options': 'nosniff',
      'content-security-policy':
        "sandbox; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'",
    })
  })

  test.for(['bytes=1000-', 'bytes=1000-1001', 'bytes=99999-', 'bytes=-0'])(
    'refuses %s as outside the file',
    async (range) => {
      const { read } = await staged()
      const answer = await read(range)
      expectProblem(answer, 416, 'range_not_satisfiable')
      expect(headerOf(answer, 'content-range')).toBe(`bytes */${SIZE}`)
      expect(headerOf(answer, 'cache-control')).toBe('no-store')
    },
  )

  test.for([
    'bytes=',
    'bytes=abc',
    'bytes=5-2',
    'bytes=-',
    'bytes=--1',
    'bytes=+1-2',
    'bytes=0x1-2',
    'bytes=1.5-2',
    'bytes 0-1',
    'items=0-1',
    '0-1',
  ])('%s is not a range and answers the whole file', async (range) => {
    const { bytes, read } = await staged()
    const answer = await read(range)
    expect(answer.status).toBe(200)
    expect(answer.body.equals(bytes)).toBe(true)
  })
})

describe('numbers past every integer', () => {
  test('an end is cut to the file, or the field ignored: never a wrong range', async () => {
    const { bytes, read } = await staged()
    const answer = await read('bytes=900-99999999999999999999')
    expect([200, 206]).toContain(answer.status)
    expect(answer.body.equals(answer.status === 206 ? bytes.subarray(900) : bytes)).toBe(true)
  })

  test('a start is outside the file, or the field ignored: never a wrong range', async () => {
    const { bytes, read } = await staged()
    const answer = await read('bytes=99999999999999999999-')
    if (answer.status === 200) expect(answer.body.equals(bytes)).toBe(true)
    else expectProblem(answer, 416, 'range_not_satisfiable')
  })
})

describe('several ranges', () => {
  test.for([
    ['two', 'bytes=0-0,2-2'],
    ['overlapping', 'bytes=0-500,400-999'],
    ['descending', 'bytes=900-999,0-99'],
    ['a thousand', `bytes=${Array.from({ length: 1_000 }, (_, at) => `${at}-${at}`).join(',')}`],
  ])('%s answer the whole file once', async ([, range = '']) => {
    const { bytes, read } = await staged()
    const answer = await read(range)
    expect(answer.status).toBe(200)
    expect(answer.body.equals(bytes)).toBe(true)
  })
})

describe('If-Range', () => {
  test('with the tag, the range is answered', async () => {
    const { cid, read } = await staged()
    expect((await read('bytes=0-9', { 'If-Range': `"${cid}"` })).status).toBe(206)
  })

  test.for([
    ['another tag', () => '"other"'],
    ['the weak tag, which never matches', (cid: string) => `W/"${cid}"`],
    ['a date, which this service does not give', () => 'Wed, 21 Oct 2015 07:28:00 GMT'],
  ] as const)('with %s, the whole file is answered', async ([, spell]) => {
    const { bytes, cid, read } = await staged()
    const answer = await read('bytes=0-9', { 'If-Range': spell(cid) })
    expect(answer.status).toBe(200)
    expect(answer.body.equals(bytes)).toBe(true)
  })
})

describe('a bigger file', () => {
  test('ranges across chunk borders are exact', async () => {
    const size = 700_001
    const { bytes, read } = await staged(size)
    for (const border of [4_096, 65_536, 131_072, 262_144, 524_288]) {
      const answer = await read(`bytes=${border - 1}-${border}`)
      expect(answer.body.equals(bytes.subarray(border - 1, border + 1)), `at ${border}`).toBe(true)
    }
    expect((await read(`bytes=${size - 1}-`)).body).toHaveLength(1)
  })
})
