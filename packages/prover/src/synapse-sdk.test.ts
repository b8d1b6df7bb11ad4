/**
 * `@filoz/synapse-sdk` as it is published: uploads to two of these provers and downloads from them. The contracts that it reads are a
 * stand-in, see `testing/warm-storage.ts`; its requests to the providers are answered by the provers alone.
 */
import { calibration } from '@filoz/synapse-core/chains'
import { createDataSet } from '@filoz/synapse-core/sp'
import { Synapse } from '@filoz/synapse-sdk'
import { type Address, createClient, http } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import type { PieceFault } from './faults.ts'
import type { ProverOptions } from './prover-options.ts'
import { pieceOf, startTestProver } from './testing/harness.ts'
import { startWarmStorage } from './testing/warm-storage.ts'

async function startNetwork(options: Partial<ProverOptions> = {}) {
  /** What is wrong with every piece of a provider. */
  const faults: (PieceFault | undefined)[] = []
  const provers: { readonly account: Address; readonly url: string }[] = []
  for (const index of [0, 1]) {
    const account = privateKeyToAccount(generatePrivateKey())
    const ownFaults = { piece: () => faults[index] }
    const { url } = await startTestProver({ privateHosts: ['127.0.0.1:*'], faults: ownFaults, ...options })
    // Each prover numbers its data sets itself, and a contract those of all: the second prover has a data set of somebody else.
    const other = createClient({ account, chain: calibration, transport: http(url) })
    if (index === 1) await createDataSet(other, { serviceURL: url, payee: account.address, cdn: false })
    provers.push({ account: account.address, url })
  }
  const contracts = await startWarmStorage(provers)
  const account = privateKeyToAccount(generatePrivateKey())
  await contracts.addPayer(account.address)
  /** Knows nothing but what the chain says. */
  const newClient = () =>
    Synapse.create({ account, chain: calibration, transport: http(contracts.rpcUrl), source: 'lade-test' }).storage
  return { account, contracts, newClient, provers, faults }
}

const isSame = (bytes: Uint8Array, other: Uint8Array): boolean => Buffer.compare(bytes, other) === 0

// Its waits between two questions are fixed at 4 s.
describe('@filoz/synapse-sdk', { timeout: 120_000 }, () => {
  test('uploads to one provider, has another pull, and a new client downloads and adds to the data sets', async () => {
    // It asks again until the piece is found and the transactions are confirmed.
    const { account, contracts, newClient, provers } = await startNetwork({ findDelayMs: 200, confirmDelayMs: 200 })
    const [first, second] = [pieceOf(300_000, 3), pieceOf(1_000_001, 5)]
    const uploaded = await newClient().upload(first.bytes, { pieceMetadata: { name: 'first' } })
    expect(uploaded).toMatchObject({ size: 300_000, requestedCopies: 2, complete: true, failedAttempts: [] })
    expect(uploaded.pieceCid.toString()).toBe(first.pieceCid)
    expect(uploaded.copies).toMatchObject([
      { role: 'primary', pieceId: 0n, isNewDataSet: true },
      { role: 'secondary', pieceId: 0n, isNewDataSet: true },
    ])
    await contracts.confirm()
    expect(new Set(contracts.dataSets.keys())).toEqual(new Set([1n, 2n]))
    const signed = { payer: account.address, metadata: [{ key: 'source', value: 'lade-test' }], pieces: [{ id: 0n }] }
    expect([...contracts.dataSets.values()]).toMatchObject([signed, signed])
    for (const { url } of provers) {
      const answer = await fetch(`${url}/piece/${first.pieceCid}`)
      expect(isSame(new Uint8Array(await answer.arrayBuffer()), first.bytes)).toBe(true)
    }

    const later = newClient()
    expect(isSame(await later.download({ pieceCid: first.pieceCid }), first.bytes)).toBe(true)
    const added = await later.upload(new Blob([second.bytes]).stream())
    expect(added.complete).toBe(true)
    const joined = { pieceId: 1n, isNewDataSet: false }
    expect(added.copies).toMatchObject([joined, joined])
    await contracts.confirm()
    expect(isSame(await newClient().download({ pieceCid: second.pieceCid }), second.bytes)).toBe(true)
  })

  test('downloads what another provider still has, and refuses damaged bytes', async () => {
    const { contracts, faults, newClient } = await startNetwork()
    const piece = pieceOf(200_000, 7)
    await newClient().upload(piece.bytes)
    await contracts.confirm()
    faults[0] = { kind: 'lost' }
    expect(isSame(await newClient().download({ pieceCid: piece.pieceCid }), piece.bytes)).toBe(true)
    faults[1] = { kind: 'flipped', offsetBytes: 100_000 }
    await expect(newClient().download({ pieceCid: piece.pieceCid })).rejects.toThrow(/PieceCID verification failed/)
    faults[1] = { kind: 'lost' }
    await expect(newClient().download({ pieceCid: piece.pieceCid })).rejects.toThrow(/retrieval attempts failed/)
  })

  test('stores, commits, lists and deletes pieces of one data set', async () => {
    const { contracts, newClient, provers } = await startNetwork()
    const [first, second, third] = [pieceOf(500, 1), pieceOf(501, 3), pieceOf(502, 5)]
    const context = await newClient().createContext({ providerId: 1n, metadata: { album: 'x' } })
    const stored = []
    for (const { bytes } of [first, second, third]) stored.push(await context.store(bytes))
    const committed = await context.commit({ pieces: stored })
    expect(committed).toMatchObject({ dataSetId: 1n, pieceIds: [0n, 1n, 2n], isNewDataSet: true })
    await contracts.confirm()

    const again = await newClient().createContext({ dataSetId: 1n })
    await again.deletePiece({ piece: second.pieceCid })
    await contracts.confirm()
    const listed = await Array.fromAsync(again.getPieces())
    const kept = [
      [0n, first.pieceCid],
      [2n, third.pieceCid],
    ]
    expect(listed.map(({ pieceId, pieceCid }) => [pieceId, pieceCid.toString()])).toEqual(kept)
    const atProvider = (await (await fetch(`${provers[0]?.url}/pdp/data-sets/1`)).json()) as {
      readonly pieces: readonly { readonly pieceId: number; readonly pieceCid: string }[]
    }
    expect(atProvider.pieces.map(({ pieceId, pieceCid }) => [BigInt(pieceId), pieceCid])).toEqual(kept)
    expect(isSame(await again.download({ pieceCid: third.pieceCid }), third.bytes)).toBe(true)
  })
})
