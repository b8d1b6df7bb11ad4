import { request } from 'node:http'
import { type ContentHashers, hashContentHere } from '@lade/node/hashing/content-hasher'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterEach, describe, expect, it } from 'vitest'
import { type RunningService, runService } from '../../../testing/running/running-service.ts'

/** More than a principal may leave unpaid. */
const LONG_MS = 6000
/** Bytes that pay for that. */
const PAYING_BYTES = 1000 * 1024 * 1024
const BYTES = Buffer.from('a few bytes')

/** Hashes, and claims that it took long. */
const slowHashers: ContentHashers = (wanted, sizeBytes, bill) => {
  bill?.pay(PAYING_BYTES)
  bill?.spend(LONG_MS)
  return hashContentHere(wanted, sizeBytes, bill)
}

describe('an upload of a caller over its budget', () => {
  let service: RunningService
  afterEach(() => service.remove())
  const start = async () => {
    service = await runService({ env: { LADE_INLINE_KB: '0' }, substitutes: { hashers: slowHashers } })
    return service
  }

  it('is refused with 429 after bodies of wrong content, and that of another caller is not', async () => {
    const { upload, signUp } = await start()
    const { token } = await signUp()
    const wrong = await upload(BYTES, { cid: sha256Hex(Buffer.from('other bytes')), token })
    expect(wrong.status).toBe(422)
    const refused = await upload(BYTES, { token })
    expect([refused.status, await refused.json()]).toMatchObject([429, { error: 'over_budget' }])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await upload(BYTES)).status).toBe(200)
  })

  it('is refused before `100 Continue`', async () => {
    const { upload, url } = await start()
    await upload(BYTES, { cid: sha256Hex(Buffer.from('other bytes')) })
    const answered = Promise.withResolvers<number | undefined>()
    const headers = { 'content-type': 'text/plain', 'content-length': BYTES.length, expect: '100-continue' }
    const sending = request(`${url}/api/upload?cid=${sha256Hex(BYTES)}`, { method: 'POST', headers })
    sending.on('continue', () => answered.reject(new Error('the body was asked for')))
    sending.on('response', ({ statusCode }) => answered.resolve(statusCode))
    sending.flushHeaders()
    expect(await answered.promise).toBe(429)
    sending.destroy()
  })

  it('is taken after bodies that are right, and after a few repetitions of them', async () => {
    const { upload } = await start()
    for (let round = 0; round < 6; round += 1) expect((await upload(BYTES)).status).toBe(200)
  })

  it('is refused after repetitions without end', async () => {
    const { upload } = await start()
    const statuses: number[] = []
    for (let round = 0; round < 12; round += 1) statuses.push((await upload(BYTES)).status)
    expect(statuses.slice(0, 7)).toEqual(Array(7).fill(200))
    expect(statuses.at(-1)).toBe(429)
  })
})
