import { createHash } from 'node:crypto'
import { hashPiece, pieceCidV2 } from '@lade/core/piece'
import { DAY_MS } from '@lade/core/time'
import type { DealEntry } from '@lade/core/wire'
import { type FakeProver, openFakeProver } from '@lade/server/testing/fake-prover'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createLadeClient } from '../client.ts'
import type { LadeClient } from '../options.ts'
import { noise } from '../testing/noise.ts'
import { type OwnService, startOwnService } from '../testing/own-service.ts'

const MIB = 1_048_576

let service: OwnService
let client: LadeClient
let provers: FakeProver[]
/** Small files wait for others to be handed to a prover with; this one does while the other tests run. */
let small: { readonly dealId: string; readonly pieceCid: string | null }
beforeAll(async () => {
  provers = ['https://one.example', 'https://two.example'].map((name) => openFakeProver({ name }))
  const env = { LADE_AGGREGATE_BELOW_MB: '1', LADE_AGGREGATE_SECONDS: '1' }
  service = await startOwnService(env, { provers })
  client = createLadeClient({ url: service.url, token: await service.token() })
  small = await client.put(noise(5000, 7))
})
afterAll(() => service.remove())

const dealOnce = (dealId: string, expected: Partial<DealEntry>) =>
  vi.waitFor(
    async () => {
      const deal = await client.deals.get(dealId)
      expect(deal).toMatchObject(expected)
      return deal
    },
    { timeout: 15_000, interval: 50 },
  )

describe('deals with a service', () => {
  it('are active once a prover has proved them, and say by which proofs', async () => {
    const { dealId, pieceCid } = await client.put(noise(MIB + 1, 1))
    const { copies } = await dealOnce(dealId, { status: 'active', provedCopies: 1 })
    expect(copies).toMatchObject([{ pieceCid, state: 'stored' }])
    const { audits } = await client.deals.proofs(dealId)
    expect(audits[0]).toMatchObject({ pieceCid, passed: true, prover: copies[0]?.prover })
    const listed: string[] = []
    for await (const deal of client.deals.list({ status: 'active' })) listed.push(deal.dealId)
    expect(listed).toContain(dealId)
  })

  it('are extended, and held by as many provers as asked for', async () => {
    const { dealId, expiresAt } = await client.put(noise(MIB + 2, 2))
    const extended = await client.deals.extend(dealId, { days: 3 })
    expect(Date.parse(extended.expiresAt) - Date.parse(expiresAt)).toBe(3 * DAY_MS)
    expect(await client.deals.setRedundancy(dealId, 2)).toMatchObject({ dealId, redundancy: 2 })
    await dealOnce(dealId, { provedCopies: 2 })
    await expect(client.deals.setRedundancy(dealId, 3)).rejects.toMatchObject({
      code: 'not_enough_provers',
      evidence: { asked: 3, available: 2 },
    })
    await expect(client.deals.extend(dealId, { days: 36_500 })).rejects.toMatchObject({ code: 'invalid_term' })
    for (const call of [client.deals.extend('d-0x00', { days: 1 }), client.deals.proofs('d-0x00')]) {
      await expect(call).rejects.toMatchObject({ code: 'not_found' })
    }
  })

  it('are extended to a time or a term, as often as asked', async () => {
    const { dealId, expiresAt } = await client.put(noise(MIB + 4, 4))
    const until = new Date(Date.parse(expiresAt) + 4.5 * DAY_MS)
    for (const term of [{ until }, { until }, { termDays: 35 }, { termDays: 30 }]) {
      expect(await client.deals.extend(dealId, term)).toMatchObject({ term: '35 days' })
    }
  })

  it('are not extended twice when answers are lost', async () => {
    let lost = 0
    const losing: typeof fetch = async (input, init) => {
      await fetch(input, init)
      lost += 1
      throw new TypeError('fetch failed')
    }
    const token = await service.token()
    const forgetful = createLadeClient({ url: service.url, token, fetch: losing, retry: { baseDelayMs: 1 } })
    const own = createLadeClient({ url: service.url, token })
    const put = await own.put(noise(MIB + 3, 3))
    await expect(forgetful.deals.extend(put.dealId, { days: 2 })).rejects.toMatchObject({ code: 'unreachable' })
    expect(lost).toBeGreaterThan(1)
    const { expiresAt } = await own.deals.get(put.dealId)
    expect(Date.parse(expiresAt) - Date.parse(put.expiresAt)).toBe(2 * DAY_MS)
  })
})

describe('a challenge', () => {
  it('of a piece CID is proved from nothing but that', async () => {
    const bytes = noise(MIB + 5, 5)
    const pieceCid = pieceCidV2(hashPiece(bytes))
    const { dealId } = await client.put(bytes)
    await dealOnce(dealId, { status: 'active' })
    const checked = await client.challenge(pieceCid)
    expect(checked).toMatchObject({ pieceCid, isPieceOfCid: true, answer: { cid: pieceCid, inclusion: null } })
    // A nonce of its own each time.
    const { answer } = await client.challenge(pieceCid)
    expect(answer.nonce).not.toBe(checked.answer.nonce)
  })

  it('of another id is proved for the piece that the service names, and can be asked by anybody', async () => {
    const { cid, dealId, pieceCid } = await client.put(noise(MIB + 6, 6))
    await dealOnce(dealId, { status: 'active' })
    const anybody = createLadeClient({ url: service.url })
    const checked = await anybody.challenge(cid, { nonce: 'ünïcode' })
    expect(checked).toMatchObject({ pieceCid, isPieceOfCid: false, answer: { nonce: 'ünïcode' } })
    const seed = createHash('sha256').update('lade possession\0ünïcode').digest('hex')
    expect(checked.answer.seed).toBe(`0x${seed}`)
  })

  it('is refused by what is not what was asked for, or is not held', async () => {
    const { cid, dealId } = await client.put(noise(MIB + 8, 8))
    const { dealId: otherId, pieceCid } = await client.put(noise(MIB + 9, 9))
    await dealOnce(dealId, { status: 'active' })
    await dealOnce(otherId, { status: 'active' })
    // The proof of a file that is held, for one that may not be.
    const swapping: typeof fetch = (input, init) => fetch(String(input).replace(/\/p\/\w+/, `/p/${cid}`), init)
    const deceived = createLadeClient({ url: service.url, fetch: swapping })
    await expect(deceived.challenge(pieceCid ?? '')).rejects.toMatchObject({
      code: 'unexpected_answer',
      evidence: { reason: 'The proof is invalid. It is for another piece.' },
    })
    for (const prover of provers) prover.script.liesAboutBytes = true
    try {
      const begun = performance.now()
      await expect(client.challenge(cid)).rejects.toMatchObject({ code: 'prove_failed' })
      // Not asked again after a minute, as Retry-After says.
      expect(performance.now() - begun).toBeLessThan(5000)
    } finally {
      for (const prover of provers) prover.script.liesAboutBytes = false
    }
    const { cid: unplaced } = await client.put(noise(100, 10))
    await expect(client.challenge(unplaced)).rejects.toMatchObject({ code: 'not_placed' })
    await expect(client.challenge('0'.repeat(64))).rejects.toMatchObject({ code: 'not_found' })
    await expect(client.challenge('x')).rejects.toMatchObject({ code: 'invalid_cid' })
    for (const nonce of ['', 'n'.repeat(129)]) {
      await expect(client.challenge(cid, { nonce })).rejects.toThrow(TypeError)
    }
  })

  it('of a small file is proved for its aggregate, with the file in it', async () => {
    const { dealId, pieceCid } = small
    const { aggregate } = await dealOnce(dealId, { status: 'active' })
    const checked = await client.challenge(pieceCid ?? '')
    expect(checked).toMatchObject({ pieceCid, isPieceOfCid: true, answer: { pieceCid: aggregate?.pieceCid } })
  })
})
