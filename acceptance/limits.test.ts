import { describe, expect, test } from 'vitest'
import { type Answer, type Caller, headerOf } from './caller.ts'
import { rawCidOf } from './content-ids.ts'
import { expectProblem } from './problem.ts'
import { head, RawConnection } from './raw-http.ts'
import type { Problem } from './shapes.ts'
import { freshAddress, MIB, sampleBytes, useTarget } from './target.ts'

const target = useTarget()

const nextUtcMidnight = () => Math.floor(Date.now() / 86_400_000 + 1) * 86_400

function expectRateHeaders(answer: Answer, limit: number, remaining: number): void {
  expect(headerOf(answer, 'x-ratelimit-limit')).toBe(String(limit))
  expect(headerOf(answer, 'x-ratelimit-remaining')).toBe(String(remaining))
  expect(headerOf(answer, 'x-ratelimit-reset')).toBe(String(nextUtcMidnight()))
  const policy = headerOf(answer, 'ratelimit-policy')
  expect(policy).toMatch(/^"[^"]+"(;[a-z]+=("[^"]*"|\d+))+$/)
  expect(policy.split(';')).toEqual(expect.arrayContaining([`q=${limit}`, 'w=86400', 'qu="content-bytes"']))
  const current = headerOf(answer, 'ratelimit')
  expect(current).toMatch(/^"[^"]+";r=\d+;t=\d+$/)
  expect(current.split(';')).toContain(`r=${remaining}`)
  const secondsLeft = Number(/t=(\d+)/.exec(current)?.[1])
  expect(Math.abs(nextUtcMidnight() - Date.now() / 1_000 - secondsLeft)).toBeLessThan(10)
}

describe('documented limits', () => {
  test('a server left at its defaults has the limits of the table', async (context) => {
    if (target.isOwn) {
      expect(target.info.tiers.sponsored).toMatchObject({ fileBytes: MIB, dailyBytes: 2 * MIB })
      expect(target.info.tiers.token).toMatchObject({ fileBytes: 4 * MIB, quotaMb: 8 })
    } else {
      const { sponsored, token } = target.info.tiers
      expect([sponsored.fileBytes, sponsored.dailyBytes, token.fileBytes, token.quotaMb].every((n) => n > 0)).toBe(true)
    }
    const user = await target.freshUser(context)
    expect((await user.usage()).quotaBytes).toBe(target.info.tiers.token.quotaMb * MIB)
  })

  test('a sponsored file of exactly the per-file limit is taken, and one byte more is refused', async (context) => {
    target.needsOwnServer(context, 'needs a small per-file limit')
    const caller = target.anonymous()
    expect((await caller.stage(sampleBytes(MIB))).size).toBe(MIB)
    const problem = expectProblem(await caller.upload(sampleBytes(MIB + 1)), 413, 'too_large')
    expect(problem).toMatchObject({ limit: MIB, size: MIB + 1 })
  })

  test('a token file of exactly the per-file limit is taken, and one byte more is refused', async (context) => {
    target.needsOwnServer(context, 'needs a small per-file limit')
    const user = await target.freshUser(context)
    expect((await user.stage(sampleBytes(4 * MIB))).size).toBe(4 * MIB)
    expectProblem(await user.upload(sampleBytes(4 * MIB + 1)), 413, 'too_large')
    expect((await user.usage()).today.bytes).toBe(4 * MIB)
  })

  test('a cid of 8 and of 80 characters is within the limits', async () => {
    for (const length of [8, 80]) {
      const cid = `x${sampleBytes(40).toString('hex')}`.slice(0, length)
      const answer = await target.anonymous().upload(sampleBytes(), { cid })
      if (answer.status !== 200) expect(answer.json<Problem>().detail).not.toMatch(/8|80|length/)
      else expect(answer.json<object>()).toMatchObject({ cid })
    }
  })
})

describe('daily quota', () => {
  test('the answers carry limit, remaining and reset, in bytes and epoch seconds', async (context) => {
    const user = await target.freshUser(context, { quotaMb: 2 })
    expectRateHeaders(await user.upload(sampleBytes(1_000)), 2 * MIB, 2 * MIB - 1_000)
    expectRateHeaders(await user.upload(sampleBytes(500)), 2 * MIB, 2 * MIB - 1_500)
  })

  test('a sponsored upload carries them for its address', async (context) => {
    target.needsOwnServer(context, 'needs an address of its own')
    const caller = target.anonymous()
    expectRateHeaders(await caller.upload(sampleBytes(64)), 2 * MIB, 2 * MIB - 64)
    expectRateHeaders(await caller.upload(sampleBytes(64)), 2 * MIB, 2 * MIB - 128)
  })

  test('the quota is exact: its last byte is taken, and one byte more is refused with used, limit and Retry-After', async (context) => {
    const user = await target.freshUser(context, { quotaMb: 1 })
    await user.stage(sampleBytes(MIB - 1))
    await user.stage(Buffer.from('a'))
    // Not the same byte again, which would be a retry.
    const answer = await user.upload(Buffer.from('b'))
    const problem = expectProblem(answer, 429, 'quota_exceeded')
    expect(problem).toMatchObject({ used: MIB, limit: MIB })
    expectRateHeaders(answer, MIB, 0)
    const waitSeconds = Number(headerOf(answer, 'retry-after'))
    expect(Math.abs(nextUtcMidnight() - Date.now() / 1_000 - waitSeconds)).toBeLessThan(10)
    expect((await user.usage()).today).toMatchObject({ bytes: MIB, files: 2, remainingBytes: 0 })
  })

  test('parallel uploads never pass the quota by a byte', async (context) => {
    const user = await target.freshUser(context, { quotaMb: 1 })
    const size = 100_000
    const answers = await Promise.all(Array.from({ length: 16 }, () => user.upload(sampleBytes(size))))
    const taken = answers.filter((answer) => answer.status === 200).length
    expect(taken).toBe(10)
    for (const answer of answers.filter((one) => one.status !== 200)) expectProblem(answer, 429, 'quota_exceeded')
    expect((await user.usage()).today).toMatchObject({ bytes: taken * size, reservedBytes: 0 })
  })

  test('the quota is of the user: a second token of the same email shares what is used', async (context) => {
    target.needsOwnServer(context, 'uses up the daily quota of the tier')
    const user = await target.freshUser(context)
    const second = await target.freshUser(context, { email: user.email })
    for (let used = 0; used < target.info.tiers.token.quotaMb; used += 1) await user.stage(sampleBytes(MIB))
    expectProblem(await second.upload(sampleBytes(1)), 429, 'quota_exceeded')
  })

  test('a token is kept within its own quota, which holds back no other token of the same email', async (context) => {
    const user = await target.freshUser(context, { quotaMb: 1 })
    const second = await target.freshUser(context, { email: user.email, quotaMb: 1 })
    await user.stage(sampleBytes(MIB))
    expectProblem(await user.upload(sampleBytes(1)), 429, 'quota_exceeded')
    expect((await second.upload(sampleBytes(1))).status).toBe(200)
  })

  test('refused uploads charge nothing', async (context) => {
    const user = await target.freshUser(context)
    const bytes = sampleBytes()
    await user.upload(bytes, { cid: 'no' })
    await user.upload(bytes, { cid: rawCidOf(sampleBytes()).base32 })
    await user.upload(bytes, { contentType: 'nonsense' })
    await user.upload(Buffer.alloc(0), { cid: rawCidOf(bytes).base32 })
    expect((await user.usage()).today).toMatchObject({ bytes: 0, files: 0, reservedBytes: 0 })
  })
})

describe('addresses', () => {
  const spend = async (caller: Caller) => {
    await caller.stage(sampleBytes(MIB))
    await caller.stage(sampleBytes(MIB))
  }

  test('each IPv4 address has a sponsored cap of its own', async (context) => {
    target.needsOwnServer(context, 'needs an address of its own')
    await spend(target.anonymous())
    expect((await target.anonymous().upload(sampleBytes(1))).status).toBe(200)
  })

  test('IPv6 addresses of one /64 share a cap, and the next /64 has its own', async (context) => {
    target.needsOwnServer(context, 'needs an address of its own')
    const prefix = `2001:db8:${sampleBytes(2).toString('hex')}`
    await spend(target.anonymous(`${prefix}:1::1`))
    expectProblem(await target.anonymous(`${prefix}:1:ffff:ffff:ffff:ffff`).upload(sampleBytes(1)), 429, 'rate_limited')
    expect((await target.anonymous(`${prefix}:2::1`).upload(sampleBytes(1))).status).toBe(200)
  })

  test('an IPv4-mapped IPv6 address counts as the IPv4 address', async (context) => {
    target.needsOwnServer(context, 'needs an address of its own')
    const address = freshAddress()
    await spend(target.anonymous(address))
    expectProblem(await target.anonymous(`::ffff:${address}`).upload(sampleBytes(1)), 429, 'rate_limited')
  })

  test('the rightmost address that is not a trusted proxy is the caller: what stands left of it is hearsay', async (context) => {
    target.needsOwnServer(context, 'needs an address of its own')
    const address = freshAddress()
    await spend(target.anonymous(address))
    const disguised = target.anonymous(`${freshAddress()}, ${address}, 127.0.0.1`)
    expectProblem(await disguised.upload(sampleBytes(1)), 429, 'rate_limited')
  })
})

describe('uploads in flight', () => {
  async function openUpload(lines: string[], bytes: Uint8Array): Promise<RawConnection> {
    const connection = await RawConnection.open(target.directUrl)
    connection.write(
      head(
        `POST /api/upload?cid=${rawCidOf(bytes).base32} HTTP/1.1`,
        `Host: ${target.directUrl.host}`,
        'Content-Type: text/plain',
        'X-Term-Days: 1',
        `Content-Length: ${bytes.length}`,
        'Expect: 100-continue',
        ...lines,
      ),
    )
    await connection.until(() => connection.responses.length > 0, 1_500)
    return connection
  }

  async function expectConcurrency(lines: string[], concurrency: number, next: () => Promise<Answer>): Promise<void> {
    const bodies = Array.from({ length: concurrency }, () => sampleBytes(20))
    const connections = await Promise.all(bodies.map((bytes) => openUpload(lines, bytes)))
    try {
      expect(connections.map((connection) => connection.responses[0]?.status)).toEqual(bodies.map(() => 100))
      const problem = expectProblem(await next(), 429, 'too_many_uploads')
      expect(problem).toMatchObject({ limit: concurrency })
      for (const [at, connection] of connections.entries()) connection.write(bodies[at] ?? '')
      for (const connection of connections) await connection.until(() => connection.finals.length > 0, 5_000)
      expect(connections.map((connection) => connection.finals[0]?.status)).toEqual(bodies.map(() => 200))
      expect((await next()).status).toBe(200)
    } finally {
      for (const connection of connections) connection.destroy()
    }
  }

  test('a sponsored address has as many as the tier says, and one more is refused', async (context) => {
    target.needsOwnServer(context, 'needs an address of its own')
    const address = freshAddress()
    const next = () => target.anonymous(address).upload(sampleBytes())
    await expectConcurrency([`X-Forwarded-For: ${address}`], target.info.tiers.sponsored.concurrency, next)
  })

  test('a user has as many as the tier says, and one more is refused', async (context) => {
    const user = await target.freshUser(context)
    const next = () => user.upload(sampleBytes())
    await expectConcurrency([`Authorization: Bearer ${user.token}`], target.info.tiers.token.concurrency, next)
  })
})
