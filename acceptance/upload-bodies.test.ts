import { describe, expect, test } from 'vitest'
import { rawCidOf } from './content-ids.ts'
import { exchangeRaw, head, RawConnection } from './raw-http.ts'
import type { Problem } from './shapes.ts'
import { sampleBytes, type User, useTarget } from './target.ts'

const target = useTarget()
const DECLARED = 1_000

function uploadHead(user: User, cid: string, declaredBytes = DECLARED): string {
  return head(
    `POST /api/upload?cid=${cid} HTTP/1.1`,
    `Host: ${target.directUrl.host}`,
    `Authorization: Bearer ${user.token}`,
    'Content-Type: text/plain',
    'X-Term-Days: 1',
    `Content-Length: ${declaredBytes}`,
  )
}

/** Nothing charged, nothing reserved, nothing listed, nothing readable. */
async function expectNothingLeft(user: User, cid: string): Promise<void> {
  const deadline = Date.now() + 5_000
  let usage = await user.usage()
  while (usage.today.reservedBytes !== 0 && Date.now() < deadline) usage = await user.usage()
  expect(usage.today).toMatchObject({ bytes: 0, files: 0, reservedBytes: 0 })
  expect(usage.stored).toMatchObject({ bytes: 0, files: 0 })
  expect((await user.files()).files).toEqual([])
  expect((await user.retrieve(cid)).status).toBe(404)
}

describe('a body that does not arrive as declared', () => {
  test('refuses a body that ends early, and keeps and charges nothing', async (context) => {
    const user = await target.freshUser(context)
    const bytes = sampleBytes(DECLARED)
    const cid = rawCidOf(bytes).base32
    const connection = await RawConnection.open(target.directUrl)
    connection.write(uploadHead(user, cid))
    connection.write(bytes.subarray(0, 500))
    connection.end()
    expect(await connection.until(() => connection.isClosed, 10_000)).toBe(true)
    for (const response of connection.finals) {
      expect(response.status).toBe(400)
      const problem = JSON.parse(response.body) as Problem
      expect(['incomplete_body', 'bad_request']).toContain(problem.error)
      if (problem.error === 'incomplete_body') {
        expect(problem).toMatchObject({ expectedBytes: DECLARED, receivedBytes: 500 })
      }
    }
    connection.destroy()
    await expectNothingLeft(user, cid)
  })

  test('refuses a body whose connection is reset, and keeps and charges nothing', async (context) => {
    const user = await target.freshUser(context)
    const bytes = sampleBytes(DECLARED)
    const cid = rawCidOf(bytes).base32
    const connection = await RawConnection.open(target.directUrl)
    connection.write(uploadHead(user, cid))
    connection.write(bytes.subarray(0, 999))
    const reserved = async () => (await user.usage()).today.reservedBytes
    const deadline = Date.now() + 5_000
    while ((await reserved()) !== DECLARED && Date.now() < deadline);
    expect(await reserved()).toBe(DECLARED)
    connection.reset()
    await expectNothingLeft(user, cid)
  })

  test('refuses a body that stalls: 408 or a closed connection, and nothing kept or charged', async (context) => {
    target.needsOwnServer(context, 'needs a short idle limit')
    const user = await target.freshUser(context)
    const bytes = sampleBytes(DECLARED)
    const cid = rawCidOf(bytes).base32
    const connection = await RawConnection.open(target.directUrl)
    connection.write(uploadHead(user, cid))
    connection.write(bytes.subarray(0, 100))
    expect(await connection.until(() => connection.isClosed, 10_000)).toBe(true)
    for (const response of connection.finals) {
      expect(response.status).toBe(408)
      expect((JSON.parse(response.body) as Problem).error).toBe('body_timeout')
    }
    connection.destroy()
    await expectNothingLeft(user, cid)
  })

  test('a failed upload leaves nothing in the way of the next one', async (context) => {
    const user = await target.freshUser(context)
    const bytes = sampleBytes(DECLARED)
    const cid = rawCidOf(bytes).base32
    const connection = await RawConnection.open(target.directUrl)
    connection.write(uploadHead(user, cid))
    connection.write(bytes.subarray(0, 10))
    connection.reset()
    expect((await user.stage(bytes)).size).toBe(DECLARED)
    await expect
      .poll(async () => (await user.usage()).today, { timeout: 5_000 })
      .toMatchObject({
        bytes: DECLARED,
        files: 1,
        reservedBytes: 0,
      })
  })

  test('bytes after the declared body are never part of it, and the answer agrees with the books', async (context) => {
    const user = await target.freshUser(context)
    const bytes = sampleBytes(DECLARED)
    const cid = rawCidOf(bytes).base32
    const raw = await exchangeRaw(
      target.directUrl,
      Buffer.concat([Buffer.from(uploadHead(user, cid)), bytes, Buffer.from('AND MORE\r\n\r\n')]),
    )
    expect(raw.closed).toBe(true)
    expect(raw.responses.filter((response) => response.status === 200).length).toBeLessThanOrEqual(1)
    const wasTaken = raw.first?.status === 200
    if (!wasTaken) expect(raw.first?.status ?? 400).toBe(400)
    await expect.poll(async () => (await user.usage()).today.reservedBytes, { timeout: 5_000 }).toBe(0)
    expect((await user.usage()).today.bytes).toBe(wasTaken ? DECLARED : 0)
    await user.stage(bytes)
    expect((await user.usage()).today).toMatchObject({ bytes: DECLARED, files: 1 })
  })

  test('a body that arrives in single bytes is one upload', async (context) => {
    const user = await target.anyUser(context)
    const bytes = sampleBytes(40)
    const connection = await RawConnection.open(target.directUrl)
    try {
      connection.write(uploadHead(user, rawCidOf(bytes).base32, bytes.length))
      for (const byte of bytes) {
        connection.write(Uint8Array.of(byte))
        await connection.until(() => false, 2)
      }
      expect(await connection.until(() => connection.finals.length > 0, 5_000)).toBe(true)
      expect(connection.finals[0]?.status).toBe(200)
    } finally {
      connection.destroy()
    }
  })
})
