import { describe, expect, it } from 'vitest'
import { rateLimitHeaders } from './rate-limit-headers.ts'

const NOW = Date.UTC(2026, 10, 21, 23, 59, 58, 500)

describe('rateLimitHeaders', () => {
  it('says limit, rest and end of the day in both forms', () => {
    expect(rateLimitHeaders({ tier: 'token', limitBytes: 1000, usedBytes: 400, limitFiles: 9, now: NOW })).toEqual({
      'x-ratelimit-limit': '1000',
      'x-ratelimit-remaining': '600',
      'x-ratelimit-reset': String(Date.UTC(2026, 10, 22) / 1000),
      'ratelimit-policy': '"token";q=1000;w=86400;qu="content-bytes"',
      ratelimit: '"token";r=600;t=2',
    })
  })

  it('never says less than nothing, also when a lowered quota is overdrawn', () => {
    const headers = rateLimitHeaders({ tier: 'sponsored', limitBytes: 0, usedBytes: 400, limitFiles: 9, now: NOW })
    expect(headers['x-ratelimit-remaining']).toBe('0')
    expect(headers.ratelimit).toBe('"sponsored";r=0;t=2')
  })

  it('says that no files are left to whom this was refused for', () => {
    const quota = { tier: 'sponsored', limitBytes: 1000, usedBytes: 400, limitFiles: 9, now: NOW } as const
    const headers = rateLimitHeaders({ ...quota, areFilesUsedUp: true })
    expect(headers['x-ratelimit-remaining']).toBe('600')
    expect(headers['ratelimit-policy']).toMatch(/^"sponsored";.*, "sponsored-files";q=9;w=86400;qu="files"$/)
    expect(headers.ratelimit).toBe('"sponsored";r=600;t=2, "sponsored-files";r=0;t=2')
  })
})
