import { createHash, randomBytes } from 'node:crypto'
import { challengeIndex, leafCount, pieceHeight, verifyInclusion, verifyLeafProof } from '@lade/core/piece'
import { challengeResult, type DealEntry, dealEntry, dealProofs, type UploadResult } from '@lade/core/wire'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type FakeProver, openFakeProver } from '../../../proving/fake-prover.ts'
import { pieceNamed } from '../../../proving/piece-name.ts'
import { openSqliteRecordStore } from '../../../records/drivers/sqlite/sqlite-record-store.ts'
import { bearer, databaseFileOf, type RunningService, runService } from '../../../testing/running/running-service.ts'

const bytesOf = (hex: string): Uint8Array => Buffer.from(hex.slice(2), 'hex')

describe('deals of a running service', () => {
  let service: RunningService
  let token: string
  let provers: FakeProver[]
  afterEach(() => service.remove())

  const run = async (env: Record<string, string> = {}) => {
    provers = ['https://one.example', 'https://two.example'].map((name) => openFakeProver({ name }))
    const settings = { LADE_AGGREGATE_BELOW_MB: '0', LADE_AGGREGATE_SECONDS: '1', LADE_AUDIT_SECONDS: '1', ...env }
    service = await runService({ env: settings, substitutes: { provers } })
    token = (await service.signUp()).token
  }
  const call = async (path: string, init: { method?: string; body?: unknown; as?: string | undefined } = {}) => {
    const { method = 'GET', body, as = token } = init
    const response = await service.fetch(path, {
      method,
      headers: { ...bearer(as), ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  const upload = async (bytes: Uint8Array, headers: Record<string, string> = {}) => {
    const response = await service.upload(bytes, { token, headers })
    expect(response.status).toBe(200)
    return (await response.json()) as UploadResult & { pieceCid: string }
  }
  const dealOf = async (dealId: string): Promise<DealEntry> =>
    dealEntry.parse((await call(`/api/deals/${dealId}`)).body)
  const dealOnce = (dealId: string, expected: object) =>
    vi.waitFor(async () => expect(await dealOf(dealId)).toMatchObject(expected), { timeout: 20_000, interval: 100 })

  const parkedPieces = () => provers.flatMap(({ calls }) => calls.filter(({ method }) => method === 'park'))
  /** Has the only copy there is be a deal on the chain, as a transaction that was confirmed does. */
  const putOnChain = async (onchainId: string) => {
    const records = await openSqliteRecordStore({ file: databaseFileOf(service.config), onFatal: () => {} })
    try {
      const names = provers.map(({ name }) => name)
      const now = Date.now()
      await records.chain.queueDeals({ provers: names, limit: 10 })
      const [queued] = await records.chain.queued({ provers: names, now, limit: 10 })
      const attempt = { hash: '0x1', raw: '0x2', maxFeePerGas: '1', maxPriorityFeePerGas: '1', signedAt: now }
      const transaction = { account: '0xabc', nonce: 0, call: '{}', attempt, now }
      await records.chain.propose({ ...transaction, contract: 'eip155:1:0xdef', copies: [queued?.copy ?? 0] })
      const [made] = await records.chain.transactions({ account: '0xabc', states: ['open'], limit: 1 })
      await records.chain.mined({
        transaction: made?.id ?? 0,
        blockNumber: 7,
        blockHash: '0xb7',
        succeeded: true,
        isConfirmed: true,
        dealIds: [onchainId],
        endsAt: [now + 86_400_000],
      })
    } finally {
      await records.close()
    }
  }

  it('become active by a proof, with every fact seen first, and the proofs can be checked by anybody', async () => {
    await run()
    const { dealId, status, pieceCid } = await upload(randomBytes(200_000))
    expect(status).toBe('proposed')
    await dealOnce(dealId, { status: 'active', provedCopies: 1, redundancy: 1, aggregate: null })
    const deal = await dealOf(dealId)
    expect(deal.copies).toMatchObject([{ state: 'stored', pieceCid, cause: null, onchainDealId: null }])
    const times = [deal.createdAt, deal.storedAt, deal.provedAt].map((time) => Date.parse(time ?? ''))
    expect(times.toSorted((one, other) => one - other)).toEqual(times)
    for (const [path, expected] of [
      ['active', 1],
      ['proposed', 0],
      ['expiring', 0],
      ['failed', 0],
    ] as const) {
      expect((await call(`/api/deals?status=${path}`)).body).toMatchObject({ count: expected })
    }
    expect((await call('/api/files')).body).toMatchObject({ files: [{ status: 'active' }] })

    const proofs = dealProofs.parse((await call(`/api/deals/${dealId}/proofs`)).body)
    expect(proofs).toMatchObject({ dealId, aggregate: null, inclusion: null })
    const [audit] = proofs.audits
    expect(audit).toMatchObject({ pieceCid, passed: true, cause: null })
    const { root, rawSizeBytes } = pieceNamed(pieceCid)
    const height = pieceHeight(rawSizeBytes)
    for (const { leafIndex, leaf, proof } of audit?.proofs ?? []) {
      const options = { root, height, leafIndex, leaf: bytesOf(leaf), proof: proof.map(bytesOf) }
      expect(verifyLeafProof(options)).toBe(true)
    }
    expect(audit?.proofs).toHaveLength(5)
  })

  it('answer a challenge with a nonce of the caller, for anybody', async () => {
    await run()
    const { cid, dealId, pieceCid } = await upload(randomBytes(200_000))
    await dealOnce(dealId, { status: 'active' })
    const { status, body } = await call(`/p/${cid}/challenge`, {
      method: 'POST',
      body: { nonce: 'my own' },
      as: undefined,
    })
    expect(status).toBe(200)
    const answer = challengeResult.parse(body)
    const seed = createHash('sha256').update('lade possession\0my own').digest()
    expect(answer).toMatchObject({ cid, nonce: 'my own', seed: `0x${seed.toString('hex')}`, pieceCid, inclusion: null })
    const { root, rawSizeBytes } = pieceNamed(pieceCid)
    const challengeRange = BigInt(leafCount(rawSizeBytes))
    for (const [proofIndex, { leafIndex, leaf, proof }] of answer.proofs.entries()) {
      expect(BigInt(leafIndex)).toBe(challengeIndex({ seed, dataSetId: 0n, proofIndex, challengeRange }))
      const options = { root, height: answer.height, leafIndex, leaf: bytesOf(leaf), proof: proof.map(bytesOf) }
      expect(verifyLeafProof(options)).toBe(true)
    }
  })

  it('error: a challenge of what nobody proved, or of nothing, is told so', async () => {
    await run()
    for (const prover of provers) prover.script.liesAboutBytes = true
    const { cid } = await upload(randomBytes(200_000))
    const body = { nonce: 'n' }
    expect(await call(`/p/${cid}/challenge`, { method: 'POST', body })).toMatchObject({
      status: 409,
      body: { error: 'not_placed' },
    })
    expect((await call(`/p/${'0'.repeat(64)}/challenge`, { method: 'POST', body })).status).toBe(404)
    for (const nonce of ['', 'n'.repeat(129), 1]) {
      expect((await call(`/p/${cid}/challenge`, { method: 'POST', body: { nonce } })).status).toBe(400)
    }
    const missing = await call(`/p/${cid}/challenge`, { method: 'POST', body: {} })
    expect(missing).toMatchObject({ status: 400 })
  })

  it('of small files are held by an aggregate, which says that they are in it', async () => {
    await run({ LADE_AGGREGATE_BELOW_MB: '1' })
    const files = [await upload(randomBytes(1000)), await upload(randomBytes(70)), await upload(randomBytes(500))]
    for (const { dealId, cid, pieceCid } of files) {
      await dealOnce(dealId, { status: 'active' })
      const { aggregate, copies } = await dealOf(dealId)
      expect(copies).toMatchObject([{ pieceCid: aggregate?.pieceCid, state: 'stored' }])
      const { body } = await call(`/p/${cid}/challenge`, { method: 'POST', body: { nonce: cid } })
      const { inclusion, ...answer } = challengeResult.parse(body)
      expect(answer.pieceCid).toBe(aggregate?.pieceCid)
      expect(inclusion?.pieceCid).toBe(pieceCid)
      const pathOf = ({ position, siblings }: { position: number; siblings: readonly string[] }) => ({
        position,
        siblings: siblings.map(bytesOf),
      })
      if (inclusion === null) throw new Error('no inclusion')
      const proof = { segment: pathOf(inclusion.segment), entry: pathOf(inclusion.entry) }
      expect(verifyInclusion({ aggregate: pieceNamed(answer.pieceCid), piece: pieceNamed(pieceCid), proof })).toBe(true)
      // Provers fetch the aggregate from here, and find the file where the deal says.
      const whole = await service.fetch(`/piece/${aggregate?.pieceCid}`)
      expect(whole.status).toBe(200)
      const range = `bytes=${aggregate?.offset}-${(aggregate?.offset ?? 0) + 69}`
      const part = await service.fetch(`/piece/${aggregate?.pieceCid}`, { headers: { range } })
      const file = await service.fetch(`/p/${cid}`, { headers: { range: 'bytes=0-69' } })
      expect([part.status, Buffer.from(await part.arrayBuffer())]).toEqual([206, Buffer.from(await file.arrayBuffer())])
      expect((await call(`/api/deals/${dealId}/proofs`)).body).toMatchObject({ aggregate: aggregate?.pieceCid })
      expect((await call(`/api/piece-cids?cid=${cid}`)).body).toMatchObject({
        items: [{ pieceCid, aggregate: aggregate?.pieceCid }],
      })
    }
  })

  it('are moved when a prover loses the bytes, and say what happened', async () => {
    await run()
    const { dealId, pieceCid } = await upload(randomBytes(200_000))
    await dealOnce(dealId, { status: 'active' })
    const holder = provers.find(({ parked }) => parked.has(pieceCid))
    holder?.lose(pieceCid)
    await dealOnce(dealId, { status: 'active', provedCopies: 1, copies: [{ state: 'failed' }, { state: 'stored' }] })
    const { copies } = await dealOf(dealId)
    expect(copies[0]).toMatchObject({ prover: holder?.name, cause: expect.stringMatching(/\w/) })
    expect(copies[1]?.prover).not.toBe(holder?.name)
    const { audits } = dealProofs.parse((await call(`/api/deals/${dealId}/proofs`)).body)
    expect(audits.some(({ passed, prover }) => !passed && prover === holder?.name)).toBe(true)
  })

  it('are held by as many provers as their owner says, and no more than there are', async () => {
    await run()
    const { dealId, pieceCid } = await upload(randomBytes(200_000))
    const put = (copies: unknown) => call(`/api/deals/${dealId}/redundancy`, { method: 'PUT', body: { copies } })
    expect(await put(2)).toMatchObject({ status: 200, body: { dealId, redundancy: 2 } })
    await dealOnce(dealId, { provedCopies: 2 })
    expect(provers.every(({ parked }) => parked.has(pieceCid))).toBe(true)
    expect(await put(3)).toMatchObject({ status: 409, body: { error: 'not_enough_provers', asked: 3, available: 2 } })
    for (const wrong of [0, -1, 1.5, '2', null]) expect((await put(wrong)).status).toBe(400)
    await put(1)
    await vi.waitFor(
      async () => {
        const { copies } = await dealOf(dealId)
        expect(copies.map(({ state }) => state).toSorted()).toEqual(['released', 'stored'])
      },
      { timeout: 20_000, interval: 100 },
    )
  })

  it('are extended within the longest term, by their owner alone', async () => {
    await run({ LADE_TERM_MAX_DAYS: '60' })
    const { dealId } = await upload(randomBytes(200_000))
    const before = await dealOf(dealId)
    const extend = (days: unknown, as?: string) =>
      call(`/api/deals/${dealId}/extend`, { method: 'POST', body: { days }, ...(as !== undefined && { as }) })
    expect(await extend(10)).toMatchObject({ status: 200, body: { term: '40 days' } })
    const after = await dealOf(dealId)
    expect(Date.parse(after.expiresAt) - Date.parse(before.expiresAt)).toBe(10 * 86_400_000)
    expect(await extend(21)).toMatchObject({ status: 400, body: { error: 'invalid_term' } })
    for (const wrong of [0, -1, 1.5, '1']) expect((await extend(wrong)).status).toBe(400)
    const other = await service.signUp('other@example.org')
    expect((await extend(1, other.token)).status).toBe(404)
    expect((await call(`/api/deals/${dealId}/proofs`, { as: other.token })).status).toBe(404)
  })

  it('error: a deal that has ended is extended no more', async () => {
    await run()
    const { dealId, cid } = await upload(randomBytes(200_000))
    await call(`/api/files/${cid}`, { method: 'DELETE' })
    expect(await call(`/api/deals/${dealId}/extend`, { method: 'POST', body: { days: 1 } })).toMatchObject({
      status: 409,
      body: { error: 'deal_ended', dealStatus: 'removed' },
    })
    expect((await call(`/api/deals/${dealId}/redundancy`, { method: 'PUT', body: { copies: 1 } })).status).toBe(409)
    expect((await dealOf(dealId)).status).toBe('removed')
  })

  it('of private files are kept here and given to no prover', async () => {
    await run()
    const { dealId } = await upload(randomBytes(200_000), { 'x-visibility': 'private' })
    const { dealId: other } = await upload(randomBytes(200_000))
    await dealOnce(other, { status: 'active' })
    expect(await dealOf(dealId)).toMatchObject({ status: 'staged', copies: [] })
    expect(parkedPieces()).toHaveLength(1)
  })

  it('of private files stay here when they are uploaded again, until they are public', async () => {
    await run()
    const bytes = randomBytes(200_000)
    const { dealId } = await upload(bytes, { 'x-visibility': 'private' })
    expect(await upload(bytes)).toMatchObject({ dealId, visibility: 'private' })
    const signup = { email: 'ada@example.org', label: 'narrow', scopes: ['put'] }
    const narrow = (await call('/api/auth/signup', { method: 'POST', body: signup, as: undefined })).body
    const refused = await service.upload(bytes, { token: String(narrow.token), headers: { 'x-visibility': 'public' } })
    expect([refused.status, parkedPieces()]).toEqual([403, []])
    expect(await upload(bytes, { 'x-visibility': 'public' })).toMatchObject({ dealId, visibility: 'public' })
    await dealOnce(dealId, { status: 'active' })
  })

  it('leave the provers with a file that becomes private, and come back with it', async () => {
    await run()
    const { cid, dealId } = await upload(randomBytes(200_000))
    await dealOnce(dealId, { status: 'active' })
    const patch = (visibility: string) => call(`/api/files/${cid}`, { method: 'PATCH', body: { visibility } })
    expect(await patch('private')).toMatchObject({ status: 200, body: { visibility: 'private', status: 'staged' } })
    await dealOnce(dealId, { status: 'staged', provedCopies: 0, copies: [{ state: 'released' }] })
    expect(await patch('public')).toMatchObject({ status: 200, body: { visibility: 'public' } })
    await dealOnce(dealId, { status: 'active', provedCopies: 1 })
  })

  it('of files that were private from the start are placed once they are public', async () => {
    await run()
    const { cid, dealId } = await upload(randomBytes(200_000), { 'x-visibility': 'private' })
    const { dealId: other } = await upload(randomBytes(200_000))
    await dealOnce(other, { status: 'active' })
    await call(`/api/files/${cid}`, { method: 'PATCH', body: { visibility: 'public' } })
    await dealOnce(dealId, { status: 'active', provedCopies: 1 })
  })

  it('have one id in every answer at one time: the one on the chain once it is known, beside the synthetic one', async () => {
    await run()
    const bytes = randomBytes(200_000)
    const { cid, dealId: syntheticDealId } = await upload(bytes)
    await dealOnce(syntheticDealId, { status: 'active' })
    const idsIn = async () => {
      const { dealId, syntheticDealId } = await upload(bytes)
      const shown = [
        { dealId, syntheticDealId },
        (await call(`/api/files/${cid}`)).body,
        ((await call('/api/files')).body as { files: unknown[] }).files[0],
        ((await call('/api/deals')).body as { deals: unknown[] }).deals[0],
        await dealOf(syntheticDealId),
        (await call(`/api/deals/${syntheticDealId}/proofs`)).body,
      ] as { dealId: string; syntheticDealId: string }[]
      return [...new Set(shown.map((one) => `${one.dealId} ${one.syntheticDealId}`))]
    }
    expect(await idsIn()).toEqual([`${syntheticDealId} ${syntheticDealId}`])
    await putOnChain('41')
    expect(await idsIn()).toEqual([`41 ${syntheticDealId}`])
    expect((await dealOf('41')).cid).toBe(cid)
    const extended = await call('/api/deals/41/extend', { method: 'POST', body: { termDays: 31 } })
    expect(extended.body).toMatchObject({ dealId: '41', syntheticDealId, term: '31 days' })
  })
})
