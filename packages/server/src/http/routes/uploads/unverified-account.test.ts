import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterEach, describe, expect, it } from 'vitest'
import { bearer, type RunningService, runService } from '../../../testing/running/running-service.ts'

const PRIVATE = { 'x-visibility': 'private' }
const BYTES = Buffer.from('nobody else is to read this')

describe('private files of claimed addresses', () => {
  let service: RunningService | undefined
  afterEach(() => service?.remove())

  const run = async (env: Record<string, string>) => {
    service = await runService({ env })
    return service
  }
  const answerOf = async (response: Response) => ({
    status: response.status,
    body: (await response.json()) as Record<string, unknown>,
  })

  it('are refused with open signup where other machines reach the service, in every way', async () => {
    const { fetch, upload, signUp } = await run({ LADE_HOST: '0.0.0.0' })
    const { token } = await signUp()
    const refusal = { status: 403, body: { error: 'unverified_account', setting: 'LADE_SIGNUP' } }
    expect(await answerOf(await upload(BYTES, { token, headers: PRIVATE }))).toMatchObject(refusal)
    expect((await upload(BYTES, { token })).status).toBe(200)
    const json = { 'content-type': 'application/json', ...bearer(token) }
    const patch = { method: 'PATCH', body: '{"visibility":"private"}', headers: json }
    const path = `/api/files/${sha256Hex(BYTES)}`
    expect(await answerOf(await fetch(path, patch))).toMatchObject(refusal)
    const compose = {
      method: 'POST',
      body: JSON.stringify({ parts: [sha256Hex(BYTES)] }),
      headers: { ...json, ...PRIVATE },
    }
    expect(await answerOf(await fetch(`/api/compose?cid=${sha256Hex(BYTES)}`, compose))).toMatchObject(refusal)
    expect(await answerOf(await upload(BYTES, { token, headers: PRIVATE }))).toMatchObject(refusal)
    expect(await answerOf(await fetch(path, { headers: bearer(token) }))).toMatchObject({
      body: { visibility: 'public' },
    })
  })

  it('are taken where only this machine reaches the service', async () => {
    const { upload, signUp } = await run({})
    const { token } = await signUp()
    expect((await upload(BYTES, { token, headers: PRIVATE })).status).toBe(200)
  })

  it('are taken where addresses are confirmed by the operator', async () => {
    const key = 'f'.repeat(64)
    const opened = await run({ LADE_TOKEN_KEY: key })
    const { token } = await opened.signUp()
    await opened.close()
    const { dataDir } = opened
    const closed = await runService({
      env: { LADE_TOKEN_KEY: key, LADE_SIGNUP: 'closed', LADE_HOST: '0.0.0.0' },
      dataDir,
    })
    try {
      expect((await closed.upload(BYTES, { token, headers: PRIVATE })).status).toBe(200)
    } finally {
      await closed.close()
    }
  })
})
