import { randomBytes } from 'node:crypto'
import { statfsSync } from 'node:fs'
import { type ClientRequest, request } from 'node:http'
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bearer, type RunningService, runService } from '../../../testing/running/running-service.ts'

const MIB = 1024 * 1024
const GIB = 1024 * MIB
const UPLOADS = 21
/** The uploads ask for three times as much as there is. */
const SHARE = 7
const SENT_BYTES = 70_000

describe('uploads that are announced and hardly come', () => {
  let service: RunningService
  let roomBytes: number
  beforeAll(async () => {
    const { bavail, bsize } = statfsSync(tmpdir())
    const freeBytes = bavail * bsize
    // Others use this disk too, so that there is some to spare.
    roomBytes = Math.min(30 * GIB, Math.floor(freeBytes / 2))
    service = await runService({
      env: {
        LADE_MIN_FREE_MB: String(Math.floor((freeBytes - roomBytes) / MIB)),
        LADE_TOKEN_FILE_MB: '1000000',
        LADE_TOKEN_DAILY_MB: '1000000',
      },
    })
  })
  afterAll(() => service.remove())

  /** Resolves when the body is wanted, and some of it is sent. */
  function begin(
    token: string,
    sizeBytes: number,
  ): Promise<{ readonly status: number; readonly upload: ClientRequest }> {
    const cid = randomBytes(32).toString('hex')
    const upload = request(`${service.url}/api/upload?cid=${cid}`, {
      method: 'POST',
      headers: {
        ...bearer(token),
        'content-type': 'application/octet-stream',
        'content-length': sizeBytes,
        expect: '100-continue',
      },
    })
    return new Promise((resolve, reject) => {
      upload.on('error', reject)
      upload.on('response', (response) => {
        response.resume()
        resolve({ status: response.statusCode ?? 0, upload })
      })
      upload.on('continue', () => upload.write(Buffer.alloc(SENT_BYTES), () => resolve({ status: 100, upload })))
      upload.flushHeaders()
    })
  }

  it('leave others the room, who are refused only what cannot fit', async () => {
    const sizeBytes = Math.floor(roomBytes / SHARE)
    const attackers = await Promise.all([1, 2, 3].map((number) => service.signUp(`eve${number}@example.org`)))
    const { token } = await service.signUp()
    const begun = await Promise.all(
      Array.from({ length: UPLOADS }, (_, index) => begin(attackers[index % 3]?.token ?? '', sizeBytes)),
    )
    try {
      expect(begun.map(({ status }) => status)).toEqual(Array(UPLOADS).fill(100))
      expect((await service.upload(randomBytes(4 * MIB), { token })).status).toBe(200)
      expect((await service.upload(randomBytes(4096))).status).toBe(200)
      const big = await begin(token, sizeBytes)
      expect(big.status).toBe(100)
      big.upload.on('error', () => {}).destroy()
      // Before its body, as ever.
      const tooBig = await begin(token, roomBytes + 10 * GIB)
      expect(tooBig.status).toBe(507)
      tooBig.upload.on('error', () => {}).destroy()
    } finally {
      for (const { upload } of begun) upload.on('error', () => {}).destroy()
    }
  })
})
