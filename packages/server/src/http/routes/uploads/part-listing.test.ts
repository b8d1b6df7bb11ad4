import { PART_MEDIA_TYPE } from '@lade/core/wire'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bearer, type RunningService, runService } from '../../../testing/running/running-service.ts'

describe('parts of a file that is being uploaded', () => {
  let service: RunningService
  let token: string
  beforeAll(async () => {
    service = await runService()
    token = (await service.signUp()).token
    await service.upload(Buffer.from('a part'), { token, headers: { 'content-type': PART_MEDIA_TYPE } })
    await service.upload(Buffer.from('a file'), { token, headers: { 'content-type': 'text/plain' } })
  })
  afterAll(() => service.remove())

  const typesAt = async (path: string): Promise<unknown[]> => {
    const response = await service.fetch(path, { headers: bearer(token) })
    const { files } = (await response.json()) as { files: { contentType: string }[] }
    return files.map(({ contentType }) => contentType)
  }

  it('are listed only where their media type is asked for', async () => {
    expect(await typesAt('/api/files')).toEqual(['text/plain'])
    expect(await typesAt('/api/files?q=')).toEqual(['text/plain'])
    expect(await typesAt(`/api/files?contentType=${PART_MEDIA_TYPE}`)).toEqual([PART_MEDIA_TYPE])
  })

  it('are not among the deals', async () => {
    const response = await service.fetch('/api/deals', { headers: bearer(token) })
    expect(await response.json()).toMatchObject({ count: 1, deals: [{ size: 'a file'.length }] })
  })
})

describe('a file that no day has room for', () => {
  it('gets its size and what is left, and no time to come again', async () => {
    const service = await runService({ env: { LADE_TOKEN_DAILY_MB: '1' } })
    try {
      const { token } = await service.signUp()
      const response = await service.upload(Buffer.alloc(1_048_577), { token })
      expect([response.status, response.headers.get('retry-after')]).toEqual([429, null])
      expect(await response.json()).toMatchObject({
        error: 'quota_exceeded',
        used: 0,
        limit: 1_048_576,
        remaining: 1_048_576,
        size: 1_048_577,
        detail: expect.stringContaining("is larger than a day's quota (1 MB)."),
      })
    } finally {
      await service.remove()
    }
  })
})

describe('an error below /docs/', () => {
  it('has the shape of all others', async () => {
    const service = await runService()
    try {
      const response = await service.fetch('/docs/nowhere')
      expect(response.headers.get('content-type')).toMatch(/^application\/json/)
      expect(await response.json()).toMatchObject({
        error: 'not_found',
        status: 404,
        detail: 'There is no page /docs/nowhere. The documentation starts at /docs.',
      })
    } finally {
      await service.remove()
    }
  })
})
