import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bearer, type RunningService, runService } from '../../../testing/running/running-service.ts'

const BYTES = Buffer.from('a piece that is asked for')

describe('what clients of Filecoin providers ask before they download a piece', () => {
  let service: RunningService
  let token: string
  let pieces: { readonly pieceCid: string; readonly pieceCidV1: string }
  beforeAll(async () => {
    service = await runService()
    token = (await service.signUp()).token
    const { pieceCid } = await upload(BYTES)
    const listed = await service.fetch(`/api/piece-cids?cid=${pieceCid}`, { headers: bearer(token) })
    pieces = ((await listed.json()) as { items: [typeof pieces] }).items[0]
  })
  afterAll(() => service.remove())

  const upload = async (bytes: Uint8Array, headers: Record<string, string> = {}) => {
    const response = await service.upload(bytes, { token, headers })
    return (await response.json()) as { readonly pieceCid: string; readonly cid: string }
  }
  const find = async (pieceCid: string) => {
    const response = await service.fetch(`/pdp/piece?pieceCid=${pieceCid}`)
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }

  it('answers /pdp/ping with 200 and no body', async () => {
    const response = await service.fetch('/pdp/ping')
    expect([response.status, await response.text()]).toEqual([200, ''])
  })

  it('answers the piece CID v2 of a public piece, by both versions, and the piece is at /piece/', async () => {
    const { pieceCid, pieceCidV1 } = pieces
    expect(await find(pieceCid)).toEqual({ status: 200, body: { pieceCid } })
    expect(await find(pieceCidV1)).toEqual({ status: 200, body: { pieceCid } })
    expect(await (await service.fetch(`/piece/${pieceCid}`)).text()).toBe(BYTES.toString())
  })

  it('answers 404 for a piece that is private or removed, as for one that never was', async () => {
    const secret = await upload(Buffer.from('a private piece'), { 'x-visibility': 'private' })
    const brief = await upload(Buffer.from('a piece that is removed'))
    await service.fetch(`/api/files/${brief.cid}`, { method: 'DELETE', headers: bearer(token) })
    // 65 zero bytes.
    const absent = 'bafkzcibchybdomn3tgwgrh3g532zopskstnbrd2n3sxfqbze7rxt7vqn7veigmy'
    for (const pieceCid of [secret.pieceCid, brief.pieceCid, absent]) {
      const { status, body } = await find(pieceCid)
      expect([pieceCid, status, body.error]).toEqual([pieceCid, 404, 'not_found'])
    }
  })

  it('refuses what is no piece CID, and a request without one', async () => {
    for (const [query, error] of [
      ['?pieceCid=myfile01', 'invalid_cid'],
      ['', 'bad_request'],
    ]) {
      const response = await service.fetch(`/pdp/piece${query}`)
      expect([response.status, ((await response.json()) as { error: string }).error]).toEqual([400, error])
    }
  })

  it('error: without a storage backend nothing can be downloaded', async () => {
    const other = await runService({ env: { LADE_STORAGE: 'none' } })
    try {
      expect((await other.fetch('/pdp/ping')).status).toBe(503)
    } finally {
      await other.remove()
    }
  })
})
