/** Uploads without `Content-Length`: RFC 9112, section 7.1. */
import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import type { Caller } from './caller.ts'
import { CAR_TYPE, carOf } from './car-files.ts'
import { hexOf, rawCidOf } from './content-ids.ts'
import { importFile, PROFILES } from './network-ids.ts'
import { exchangeRaw, head, RawConnection } from './raw-http.ts'
import type { Problem, UploadResult } from './shapes.ts'
import { MIB, sampleBytes, type User, useTarget } from './target.ts'

const target = useTarget()

interface Outcome {
  readonly status: number
  readonly body: UploadResult & Problem
}

/** Uploads bytes by chunks of this length. */
async function uploadChunked(
  { baseUrl, headers }: Caller,
  bytes: Uint8Array,
  {
    cid = rawCidOf(bytes).base32,
    contentType = 'text/plain',
    chunkBytes = 60_000,
  }: { cid?: string; contentType?: string; chunkBytes?: number } = {},
): Promise<Outcome> {
  const send = baseUrl.protocol === 'https:' ? https.request : http.request
  const request = send(new URL(`/api/upload?cid=${cid}`, baseUrl), {
    method: 'POST',
    headers: { ...headers, 'Content-Type': contentType, 'X-Term-Days': '1', 'Transfer-Encoding': 'chunked' },
    agent: false,
  })
  const answered = once(request, 'response') as Promise<[http.IncomingMessage]>
  // A refusal may come before the end of the body.
  request.on('error', () => {})
  const chunks = function* () {
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes)
  }
  Readable.from(chunks()).pipe(request)
  const [response] = await answered
  const body = Buffer.concat(await response.toArray())
  request.destroy()
  return { status: response.statusCode ?? 0, body: JSON.parse(body.toString()) }
}

async function expectNothingLeft(user: User): Promise<void> {
  const deadline = Date.now() + 5_000
  let usage = await user.usage()
  while (usage.today.reservedBytes !== 0 && Date.now() < deadline) usage = await user.usage()
  expect(usage.today).toMatchObject({ bytes: 0, files: 0, reservedBytes: 0 })
  expect(usage.stored).toMatchObject({ bytes: 0, files: 0 })
}

describe('an upload of unknown length', () => {
  test.for([1, 1000, 70_000, MIB, MIB + 1, 3 * MIB + 77])(
    'of %i bytes is stored, charged to the byte, and given back',
    async (sizeBytes, context) => {
      target.needsOwnServer(context, 'stages more than 1 MiB')
      const user = await target.freshUser(context)
      const bytes = sampleBytes(sizeBytes)
      const { status, body } = await uploadChunked(user, bytes)
      expect(status, JSON.stringify(body)).toBe(200)
      expect(body).toMatchObject({ cid: rawCidOf(bytes).base32, size: sizeBytes, verified: true, sha256: hexOf(bytes) })
      const { today } = await user.usage()
      expect(today).toMatchObject({ bytes: sizeBytes, files: 1, reservedBytes: 0 })
      const got = await user.retrieve(body.cid)
      expect(got.headers['content-length']).toBe(String(sizeBytes))
      expect(Buffer.compare(got.body, bytes)).toBe(0)
    },
  )

  test.for([
    ['unixfs-v0-2015', 900_000],
    ['unixfs-v0-2015', 2 * MIB + 1],
    ['unixfs-v1-2025', 900_000],
    ['unixfs-v1-2025', 2 * MIB + 1],
  ] as const)('is verified against its %s root, with %i bytes', async ([profile, sizeBytes], context) => {
    target.needsOwnServer(context, 'stages more than 1 MiB')
    const user = await target.freshUser(context)
    const bytes = sampleBytes(sizeBytes)
    const cid = (await importFile(bytes, PROFILES[profile])).root.toString()
    const { status, body } = await uploadChunked(user, bytes, { cid, chunkBytes: 11_111 })
    expect(status, JSON.stringify(body)).toBe(200)
    expect(Buffer.compare((await user.retrieve(cid)).body, bytes)).toBe(0)
  })

  test('may be a CAR', async (context) => {
    target.needsOwnServer(context, 'stages more than 1 MiB')
    const user = await target.freshUser(context)
    const bytes = sampleBytes(2 * MIB + 5)
    const dag = await importFile(bytes, PROFILES['unixfs-v1-2025'])
    const cid = dag.root.toString()
    const { status, body } = await uploadChunked(user, await carOf(dag), { cid, contentType: CAR_TYPE })
    expect(status, JSON.stringify(body)).toBe(200)
    expect(Buffer.compare((await user.retrieve(cid)).body, bytes)).toBe(0)
  })

  test.for([1000, 2 * MIB])(
    'is refused with other bytes than its id names, and leaves nothing: %i bytes',
    async (size, context) => {
      target.needsOwnServer(context, 'stages more than 1 MiB')
      const user = await target.freshUser(context)
      const { status, body } = await uploadChunked(user, sampleBytes(size), { cid: rawCidOf(sampleBytes(9)).base32 })
      expect([status, body.error]).toEqual([422, 'cid_mismatch'])
      await expectNothingLeft(user)
    },
  )

  test('without a byte is refused, unless the id names the empty file', async (context) => {
    const user = await target.freshUser(context)
    const empty = new Uint8Array()
    const refused = await uploadChunked(user, empty, { cid: rawCidOf(sampleBytes(9)).base32 })
    expect([refused.status, refused.body.error]).toEqual([400, 'empty_body'])
    await expectNothingLeft(user)
    const taken = await uploadChunked(user, empty)
    expect([taken.status, taken.body.size]).toEqual([200, 0])
  })

  test('is refused once it is over the limit of a file, and leaves nothing', async (context) => {
    target.needsOwnServer(context, 'needs a small limit')
    const user = await target.freshUser(context)
    const limit = 4 * MIB
    const { status, body } = await uploadChunked(user, sampleBytes(limit + 1))
    expect([status, body.error, body.limit]).toEqual([413, 'too_large', limit])
    await expectNothingLeft(user)
    expect((await uploadChunked(user, sampleBytes(limit))).status).toBe(200)
  })

  test('fills the quota of the day to its last byte, and is refused at the next one', async (context) => {
    target.needsOwnServer(context, 'needs a new user with a small quota')
    const user = await target.freshUser(context, { quotaMb: 3 })
    await user.stage(sampleBytes(MIB - 1000))
    const left = 2 * MIB + 1000
    const { status, body } = await uploadChunked(user, sampleBytes(left + 1))
    expect([status, body.error]).toEqual([429, 'quota_exceeded'])
    expect((await user.usage()).today).toMatchObject({ bytes: MIB - 1000, reservedBytes: 0 })
    expect((await uploadChunked(user, sampleBytes(left))).status).toBe(200)
    const none = await uploadChunked(user, sampleBytes(1))
    expect([none.status, none.body.error]).toEqual([429, 'quota_exceeded'])
    expect((await user.usage()).today).toMatchObject({ bytes: 3 * MIB, reservedBytes: 0, remainingBytes: 0 })
  })

  test('is told before its body that nothing is left, and otherwise to go on', async (context) => {
    target.needsOwnServer(context, 'needs a new user with a small quota')
    const user = await target.freshUser(context, { quotaMb: 1 })
    const bytes = sampleBytes(MIB)
    const expecting = (cid: string) => uploadHead(user, cid, 'Expect: 100-continue')
    const connection = await RawConnection.open(target.directUrl)
    connection.write(expecting(rawCidOf(bytes).base32))
    expect(await connection.until(() => connection.responses.some(({ status }) => status === 100), 5_000)).toBe(true)
    connection.write(Buffer.concat([Buffer.from('100000\r\n'), bytes, Buffer.from('\r\n0\r\n\r\n')]))
    expect(await connection.until(() => connection.finals.length > 0, 5_000)).toBe(true)
    expect(connection.finals[0]?.status).toBe(200)
    connection.destroy()
    const refused = await exchangeRaw(target.directUrl, expecting(rawCidOf(sampleBytes(5)).base32))
    expect(refused.responses.map(({ status }) => status)).toEqual([429])
  })

  test('that breaks off keeps and charges nothing', async (context) => {
    target.needsOwnServer(context, 'sends more than 1 MiB')
    const user = await target.freshUser(context)
    const bytes = sampleBytes(2 * MIB)
    const chunk = Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
    for (const sent of [chunk, chunk.subarray(0, 500)]) {
      for (const end of ['reset', 'end'] as const) {
        const connection = await RawConnection.open(target.directUrl)
        connection.write(uploadHead(user, rawCidOf(bytes).base32))
        connection.write(sent)
        const reserved = async () => (await user.usage()).today.reservedBytes
        const deadline = Date.now() + 5_000
        if (sent === chunk) while ((await reserved()) < bytes.length && Date.now() < deadline);
        connection[end]()
        if (end === 'end') {
          expect(await connection.until(() => connection.isClosed, 10_000)).toBe(true)
          for (const { status, body } of connection.finals) {
            expect(status).toBe(400)
            // The parser of the server may have seen the end before its route has.
            expect(['incomplete_body', 'bad_request']).toContain((JSON.parse(body) as Problem).error)
          }
        }
        connection.destroy()
        await expectNothingLeft(user)
      }
    }
  })

  test('may have extensions and trailers, which mean nothing, and leaves the connection to the next request', async (context) => {
    const user = await target.freshUser(context)
    const bytes = sampleBytes(10).toString('hex')
    const { base32 } = rawCidOf(Buffer.from(bytes))
    const body = `1;name=value\r\n${bytes.slice(0, 1)}\r\n13;a="b"\r\n${bytes.slice(1)}\r\n0\r\nX-Visibility: private\r\n\r\n`
    const next = head('GET /healthz HTTP/1.1', `Host: ${target.directUrl.host}`)
    const connection = await RawConnection.open(target.directUrl)
    connection.write(uploadHead(user, base32) + body + next)
    expect(await connection.until(() => connection.finals.length === 2, 5_000)).toBe(true)
    const [upload, health] = connection.finals
    expect([upload?.status, health?.status]).toEqual([200, 200])
    expect(JSON.parse(upload?.body ?? '')).toMatchObject({ size: 20, visibility: 'public' })
    connection.destroy()
  })

  test.for([
    ['a size that is no number', 'x\r\nab\r\n0\r\n\r\n'],
    ['a size with a sign', '-2\r\nab\r\n0\r\n\r\n'],
    ['a chunk that is longer than its size', '2\r\nabc\r\n0\r\n\r\n'],
    ['a size beyond 64 bits', '10000000000000002\r\nab\r\n0\r\n\r\n'],
    ['lines that end in LF alone', '2\nab\n0\n\n'],
  ])('with %s is refused, and keeps and charges nothing', async ([, body], context) => {
    const user = await target.freshUser(context)
    const { responses, closed } = await exchangeRaw(
      target.directUrl,
      uploadHead(user, rawCidOf(Buffer.from('ab')).base32) + body,
    )
    expect(responses.every(({ status }) => status === 400)).toBe(true)
    expect(closed).toBe(true)
    await expectNothingLeft(user)
  })

  test('without a token counts for the address', async (context) => {
    target.needsOwnServer(context, 'needs an address of its own')
    const anonymous = target.anonymous()
    const bytes = sampleBytes(500)
    const { status, body } = await uploadChunked(anonymous, bytes)
    expect([status, body.sponsored, body.size]).toEqual([200, true, 500])
    const tooLarge = await uploadChunked(anonymous, sampleBytes(MIB + 1))
    expect([tooLarge.status, tooLarge.body.error]).toEqual([413, 'too_large'])
  })
})

test('two hundred uploads of unknown length and of known length fill a day exactly', async (context) => {
  target.needsOwnServer(context, 'needs a new user with a small quota')
  const user = await target.freshUser(context, { quotaMb: 1 })
  const sizeBytes = MIB / 64
  const upload = async (isChunked: boolean, bytes = sampleBytes(sizeBytes)): Promise<string> => {
    const { status, body } = isChunked ? await uploadChunked(user, bytes) : await declared(user, bytes)
    // As many as that are not taken at a time.
    if (body.error === 'too_many_uploads') return upload(isChunked, bytes)
    return `${status} ${body.error ?? ''}`
  }
  const outcomes = await Promise.all(Array.from({ length: 200 }, (_, index) => upload(index % 2 === 0)))
  expect(outcomes.filter((outcome) => outcome === '200 ')).toHaveLength(64)
  expect(new Set(outcomes)).toEqual(new Set(['200 ', '429 quota_exceeded']))
  expect((await user.usage()).today).toMatchObject({ bytes: MIB, files: 64, reservedBytes: 0 })
})

async function declared(user: User, bytes: Uint8Array): Promise<Outcome> {
  const answer = await user.upload(bytes)
  return { status: answer.status, body: answer.json() }
}

function uploadHead(user: User, cid: string, ...more: string[]): string {
  return head(
    `POST /api/upload?cid=${cid} HTTP/1.1`,
    `Host: ${target.directUrl.host}`,
    `Authorization: Bearer ${user.token}`,
    'Content-Type: text/plain',
    'X-Term-Days: 1',
    'Transfer-Encoding: chunked',
    ...more,
  )
}
