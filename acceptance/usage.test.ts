import { describe, expect, test } from 'vitest'
import { rawCidOf } from './content-ids.ts'
import { head, RawConnection } from './raw-http.ts'
import { sampleBytes, useTarget } from './target.ts'

const target = useTarget()

describe('GET /api/usage', () => {
  test('a new user has used nothing', async (context) => {
    const user = await target.freshUser(context)
    const usage = await user.usage()
    expect(usage).toMatchObject({
      userId: user.userId,
      email: user.email,
      quotaBytes: target.info.tiers.token.quotaMb * 1_048_576,
      quotaMb: target.info.tiers.token.quotaMb,
      today: { bytes: 0, files: 0, reservedBytes: 0, remainingBytes: target.info.tiers.token.quotaMb * 1_048_576 },
      last7DaysTotalBytes: 0,
      stored: { bytes: 0, files: 0 },
    })
    expect(usage.today.date).toBe(new Date().toISOString().slice(0, 10))
    const resetsAt = Date.parse(usage.today.resetsAt)
    expect(resetsAt % 86_400_000).toBe(0)
    expect(resetsAt - Date.now()).toBeGreaterThan(0)
    expect(resetsAt - Date.now()).toBeLessThanOrEqual(86_400_000)
  })

  test('the numbers are exact to the byte', async (context) => {
    const user = await target.freshUser(context)
    const sizes = [1, 1_000, 65_537, 131_072]
    for (const size of sizes) await user.stage(sampleBytes(size))
    const total = sizes.reduce((sum, size) => sum + size, 0)
    const usage = await user.usage()
    expect(usage.today).toMatchObject({
      bytes: total,
      files: sizes.length,
      reservedBytes: 0,
      remainingBytes: usage.quotaBytes - total,
    })
    expect(usage.last7DaysTotalBytes).toBe(total)
    expect(usage.last7Days).toEqual(usage.days)
    expect(usage.stored).toMatchObject({ bytes: total, files: sizes.length })
    expect(usage.days.find((day) => day.date === usage.today.date)).toEqual({
      date: usage.today.date,
      bytes: total,
      files: sizes.length,
    })
  })

  test('an upload in flight is reserved, and becomes a charge when it ends', async (context) => {
    const user = await target.freshUser(context)
    const bytes = sampleBytes(5_000)
    const connection = await RawConnection.open(target.directUrl)
    try {
      connection.write(
        head(
          `POST /api/upload?cid=${rawCidOf(bytes).base32} HTTP/1.1`,
          `Host: ${target.directUrl.host}`,
          `Authorization: Bearer ${user.token}`,
          'Content-Type: text/plain',
          'Content-Length: 5000',
          'Expect: 100-continue',
        ),
      )
      await connection.until(() => connection.responses.length > 0, 5_000)
      const during = await user.usage()
      expect(during.today).toMatchObject({
        bytes: 0,
        reservedBytes: 5_000,
        remainingBytes: during.quotaBytes - 5_000,
      })
      connection.write(bytes)
      await connection.until(() => connection.finals.length > 0, 5_000)
      expect((await user.usage()).today).toMatchObject({ bytes: 5_000, files: 1, reservedBytes: 0 })
    } finally {
      connection.destroy()
    }
  })

  test('deleting a file empties what is stored and leaves what was charged', async (context) => {
    const user = await target.freshUser(context)
    const bytes = sampleBytes(3_000)
    const { cid } = await user.stage(bytes)
    await user.request('DELETE', `/api/files/${cid}`)
    const usage = await user.usage()
    expect(usage.stored).toMatchObject({ bytes: 0, files: 0 })
    expect(usage.today).toMatchObject({ bytes: 3_000, reservedBytes: 0 })
    await user.stage(bytes)
    expect((await user.usage()).today.bytes).toBe(6_000)
  })

  test('the usage of one user says nothing of another', async (context) => {
    const [one, two] = [await target.freshUser(context), await target.freshUser(context)]
    await one.stage(sampleBytes(999))
    expect((await two.usage()).today.bytes).toBe(0)
  })
})
