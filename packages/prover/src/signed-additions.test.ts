/** What the driver for Curio signs, compared with what `@filoz/synapse-core` signs for the same request. */
import { calibration, mainnet } from '@filoz/synapse-core/chains'
import { parse } from '@filoz/synapse-core/piece'
import { signAddPieces, signCreateDataSetAndAddPieces, signSchedulePieceRemovals } from '@filoz/synapse-core/typed-data'
import { datasetMetadataObjectToEntry, pieceMetadataObjectToEntry } from '@filoz/synapse-core/utils'
import { openHttpProver, WARM_STORAGE } from '@lade/server/proving'
import fastify from 'fastify'
import { createClient, custom, decodeAbiParameters, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, onTestFinished, test } from 'vitest'
import { pieceOf } from './testing/harness.ts'

const ACCOUNT = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const PAYEE = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const NONCE = 'c0'.repeat(32)
const CIDS = [pieceOf(500, 1).pieceCid, pieceOf(300_000, 3).pieceCid]
const PIECES = CIDS.map((pieceCid) => ({ pieceCid: parse(pieceCid) }))

/** Somebody who takes every request, and keeps those that are signed. */
async function startRecorder() {
  const bodies: { readonly extraData: Hex; readonly recordKeeper?: string }[] = []
  const app = fastify()
  app.all('*', async (request, reply) => {
    if (request.method !== 'GET') bodies.push(request.body as (typeof bodies)[number])
    const location = request.url.endsWith('create-and-add')
      ? '/pdp/data-sets/created/'
      : '/pdp/data-sets/17/pieces/added/'
    return reply
      .code(request.method === 'POST' ? 201 : 200)
      .header('location', `${location}0x${NONCE}`)
      .send()
  })
  onTestFinished(() => app.close())
  return { origin: await app.listen({ port: 0, host: '127.0.0.1' }), bodies }
}

describe.each([mainnet, calibration])('the driver for Curio on $name', (chain) => {
  const client = createClient({
    account: ACCOUNT,
    chain,
    transport: custom({ request: () => Promise.reject(new Error('no chain is asked')) }),
  })

  test('signs what the contract checks', async () => {
    const { origin, bodies } = await startRecorder()
    const prover = openHttpProver({ origin, kind: 'curio', account: PAYEE, signer: ACCOUNT, chainId: chain.id })
    onTestFinished(() => prover.close())
    expect((WARM_STORAGE as Record<number, string>)[chain.id]).toBe(chain.contracts.fwss.address)

    await prover.add({ nonce: NONCE, dataSetId: null, pieceCids: CIDS })
    const creation = bodies[0]?.extraData ?? '0x'
    const [create] = decodeAbiParameters([{ type: 'bytes' }, { type: 'bytes' }], creation)
    const types = [
      { type: 'address' },
      { type: 'uint256' },
      { type: 'string[]' },
      { type: 'string[]' },
      { type: 'bytes' },
    ]
    const [payer, clientDataSetId] = decodeAbiParameters(types, create) as [string, bigint]
    expect(payer).toBe(ACCOUNT.address)
    expect(clientDataSetId).not.toBe(BigInt(`0x${NONCE}`))
    const signed = { clientDataSetId, payee: PAYEE, pieces: PIECES, nonce: BigInt(`0x${NONCE}`) } as const
    const metadata = datasetMetadataObjectToEntry({ source: 'lade' })
    expect(creation).toBe(await signCreateDataSetAndAddPieces(client, { ...signed, metadata }))
    expect(bodies[0]?.recordKeeper).toBe(chain.contracts.fwss.address)

    const dataSetId = `17-${clientDataSetId.toString(16).padStart(16, '0')}`
    const nonce = 'd1'.repeat(32)
    await prover.add({ nonce, dataSetId, pieceCids: CIDS })
    const addition = { clientDataSetId, pieces: PIECES, nonce: BigInt(`0x${nonce}`) }
    expect(bodies[1]?.extraData).toBe(await signAddPieces(client, addition))

    await prover.remove({ nonce, dataSetId, pieceId: '5', pieceCid: CIDS[0] ?? '' })
    expect(bodies[2]?.extraData).toBe(await signSchedulePieceRemovals(client, { clientDataSetId, pieceIds: [5n] }))

    // CARs go into a data set of their own, whose blocks the provider announces.
    const ipfsRootCids = CIDS.map(
      (_, index) => `bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzd${'ia'[index]}`,
    )
    await prover.add({ nonce: NONCE, dataSetId: null, pieceCids: CIDS, ipfsRootCids })
    const pieces = PIECES.map(({ pieceCid }, index) => {
      return { pieceCid, metadata: pieceMetadataObjectToEntry({}, { ipfsRootCID: ipfsRootCids[index] ?? '' }) }
    })
    const indexed = datasetMetadataObjectToEntry({ withIPFSIndexing: '', source: 'lade' })
    expect(bodies[3]?.extraData).toBe(
      await signCreateDataSetAndAddPieces(client, { ...signed, pieces, metadata: indexed }),
    )
    await prover.add({ nonce, dataSetId, pieceCids: CIDS, ipfsRootCids })
    expect(bodies[4]?.extraData).toBe(await signAddPieces(client, { ...addition, pieces }))

    // A data set of somebody else is nothing that can be signed for.
    await expect(prover.add({ nonce, dataSetId: '17', pieceCids: CIDS })).rejects.toMatchObject({
      code: 'stage_failed',
    })
    expect(bodies).toHaveLength(5)
  })
})
