import { once } from 'node:events'
import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { expect, it } from 'vitest'
import { bearer, runService } from '../../../testing/running/running-service.ts'

it('takes an object that needs longer than a body may stand still, while bytes come', async () => {
  const service = await runService({ env: { LADE_BODY_IDLE_SECONDS: '1' } })
  try {
    const { token } = await service.signUp()
    const bytes = Buffer.alloc(150_000, 'slow')
    const request = http.request(new URL(`/lfs/site/objects/${sha256Hex(bytes)}`, service.url), {
      method: 'PUT',
      headers: { ...bearer(token), 'content-type': 'application/octet-stream', 'content-length': bytes.length },
    })
    const answered = once(request, 'response') as Promise<[http.IncomingMessage]>
    for (let at = 0; at < bytes.length; at += 30_000) {
      request.write(bytes.subarray(at, at + 30_000))
      await sleep(300)
    }
    request.end()
    const [response] = await answered
    response.resume()
    expect(response.statusCode).toBe(200)
  } finally {
    await service.remove()
  }
})
