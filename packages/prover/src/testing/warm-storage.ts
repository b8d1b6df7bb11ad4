/**
 * The contracts that `@filoz/synapse-sdk` reads when it uploads and downloads: a stand-in, because npm has their ABIs without bytecode.
 *
 * The chain is anvil under Calibration's id, with the published Multicall3. At the addresses of FilecoinWarmStorageService, its view,
 * PDPVerifier, ServiceProviderRegistry and the endorsed providers are tables of answers. The test is what the provider does on the chain:
 * it takes what each provider accepted, checks the payer's signatures and nonces as the contract does, and stores what the views answer then.
 */

import { calibration } from '@filoz/synapse-core/chains'
import { getEndorsedProviderIdsCall } from '@filoz/synapse-core/endorsements'
import * as verifier from '@filoz/synapse-core/pdp-verifier'
import { type PieceCID, parse } from '@filoz/synapse-core/piece'
import { getPDPProviderCall, getPDPProvidersCall } from '@filoz/synapse-core/sp-registry'
import { encodePDPCapabilities } from '@filoz/synapse-core/utils'
import * as warmStorage from '@filoz/synapse-core/warm-storage'
import { startAnvil } from '@lade/contracts/anvil'
import { type Address, type Hex, toHex, zeroAddress } from 'viem'
import { onTestFinished } from 'vitest'
import { deployedCode, installAnswerTables } from './answer-table.ts'
import { type AcceptedRequest, startRecordingRelay } from './recording-relay.ts'
import { openTestChain } from './test-chain.ts'
import { type Metadata, openWarmStorageSignatures } from './warm-storage-signatures.ts'

const { multicall3, fwss, fwssView, serviceProviderRegistry, pdp, endorsements } = calibration.contracts
const chain = calibration
const PAGE = { offset: 0n, limit: 100n }

interface Provider {
  readonly id: bigint
  readonly account: Address
  readonly url: string
  readonly accepted: readonly AcceptedRequest[]
  /** How many of them are on the chain. */
  taken: number
}

/** A data set as the contracts know it. */
interface DataSet {
  readonly id: bigint
  readonly provider: Provider
  readonly payer: Address
  readonly clientDataSetId: bigint
  readonly metadata: Metadata
  /** Without those that were taken out. */
  pieces: readonly { readonly id: bigint; readonly cid: PieceCID }[]
}

/** Starts the chain and the contracts, with these providers; all end with the test. */
export async function startWarmStorage(providers: readonly { readonly account: Address; readonly url: string }[]) {
  const anvil = await startAnvil({ chainId: chain.id })
  onTestFinished(() => anvil.stop())
  const devnet = openTestChain(anvil.rpcUrl)
  // viem names it nowhere in its exports.
  const { multicall3Bytecode } = await import(new URL('constants/contracts.js', import.meta.resolve('viem')).href)
  await devnet.setCode({ address: multicall3.address, bytecode: await deployedCode(devnet, multicall3Bytecode) })
  const replaced = [fwss, fwssView, serviceProviderRegistry, pdp, endorsements].map(({ address }) => address)
  const { answer } = await installAnswerTables(devnet, replaced)

  const known: Provider[] = []
  for (const [index, { account, url }] of providers.entries()) {
    known.push({ id: BigInt(index + 1), account, ...(await startRecordingRelay(url)), taken: 0 })
  }
  const dataSets = new Map<bigint, DataSet>()
  const signatures = openWarmStorageSignatures()

  async function answerProviders(): Promise<void> {
    const registered = known.map(registrationOf)
    const ids = known.map(({ id }) => id)
    const all = getPDPProvidersCall({ chain, onlyActive: true, ...PAGE })
    await answer(all, { providers: registered, hasMore: false })
    for (const one of registered) await answer(getPDPProviderCall({ chain, providerId: one.providerId }), one)
    await answer(warmStorage.getApprovedProviderIdsCall({ chain }), ids)
    await answer(getEndorsedProviderIdsCall({ chain }), ids)
  }

  async function answerDataSets(payer: Address): Promise<void> {
    const owned = [...dataSets.values()].filter((dataSet) => dataSet.payer === payer)
    await answer(warmStorage.getClientDataSetsCall({ chain, address: payer, ...PAGE }), owned.map(recordOf))
    for (const { metadata, pieces, ...dataSet } of owned) {
      const about = { chain, dataSetId: dataSet.id }
      const [keys, values] = [metadata.map(({ key }) => key), metadata.map(({ value }) => value)]
      const cids = pieces.map(({ cid }) => ({ data: toHex(cid.bytes) }))
      const ids = pieces.map(({ id }) => id)
      await answer(warmStorage.getDataSetCall(about), recordOf(dataSet))
      await answer(warmStorage.getAllDataSetMetadataCall(about), [keys, values])
      await answer(verifier.dataSetLiveCall(about), true)
      await answer(verifier.getDataSetListenerCall(about), fwss.address)
      await answer(verifier.getActivePieceCountCall(about), BigInt(pieces.length))
      await answer(verifier.getActivePiecesCall({ ...about, ...PAGE }), [cids, ids, false])
      for (const { id, cid } of pieces) await answer(verifier.findPieceIdsByCidCall({ ...about, pieceCid: cid }), [id])
    }
  }

  /** @throws {Error} when the contract would revert. */
  async function take(provider: Provider, { method, path, body, location }: AcceptedRequest): Promise<void> {
    // Uploads and pulls are no transactions.
    if (path.startsWith('/pdp/piece/')) return
    const { extraData, pieces = [] }: AcceptedBody = JSON.parse(body)
    const cids = pieces.map(({ pieceCid }) => parse(pieceCid))
    const confirmed = async () => {
      const status = await fetch(new URL(location ?? '', provider.url))
      return (await status.json()) as Confirmed
    }
    if (path === '/pdp/data-sets/create-and-add') {
      const created = await signatures.checkCreation(extraData, provider.account, cids)
      const id = BigInt((await confirmed()).dataSetId)
      if (dataSets.has(id)) throw new Error(`two providers have a data set ${id}`)
      dataSets.set(id, { id, provider, ...created, pieces: cids.map((cid, index) => ({ id: BigInt(index), cid })) })
      return
    }
    const [, id = '', pieceId] = /^\/pdp\/data-sets\/(\d+)\/pieces(?:\/(\d+))?$/.exec(path) ?? []
    const dataSet = dataSets.get(BigInt(id))
    if (dataSet === undefined) throw new Error(`${method} ${path} is about no data set that the contract knows`)
    if (method === 'DELETE' && pieceId !== undefined) {
      await signatures.checkRemoval(extraData, dataSet, [BigInt(pieceId)])
      dataSet.pieces = dataSet.pieces.filter((piece) => piece.id !== BigInt(pieceId))
      return
    }
    await signatures.checkAddition(extraData, dataSet, cids)
    const { confirmedPieceIds } = await confirmed()
    dataSet.pieces = [
      ...dataSet.pieces,
      ...cids.map((cid, index) => ({ id: BigInt(confirmedPieceIds[index] ?? -1), cid })),
    ]
  }

  await answerProviders()
  return {
    rpcUrl: anvil.rpcUrl,

    /** Answers for an account that has no data set yet. */
    addPayer: (payer: Address): Promise<void> => answerDataSets(payer),

    /** Puts on the chain what the providers accepted since. */
    async confirm(): Promise<void> {
      for (const provider of known) {
        const accepted = provider.accepted.slice(provider.taken)
        provider.taken += accepted.length
        for (const request of accepted) await take(provider, request)
      }
      const payers = new Set([...dataSets.values()].map(({ payer }) => payer))
      for (const payer of payers) await answerDataSets(payer)
    },

    /** All that are on the chain, by id. */
    dataSets,
  }
}

interface AcceptedBody {
  readonly extraData: Hex
  readonly pieces?: readonly { readonly pieceCid: string }[]
}

/** What a provider says of a transaction that is confirmed. */
interface Confirmed {
  readonly dataSetId: number
  readonly confirmedPieceIds: readonly number[]
}

function registrationOf({ id, account, url }: Provider) {
  const [capabilityKeys, productCapabilityValues] = encodePDPCapabilities({
    serviceURL: url,
    minPieceSizeInBytes: 127n,
    maxPieceSizeInBytes: 1_065_353_216n,
    storagePricePerTibPerDay: 1n,
    minProvingPeriodInEpochs: 30n,
    location: '/C=XX',
    paymentTokenAddress: zeroAddress,
    ipniPiece: false,
    ipniIpfs: false,
  })
  return {
    providerId: id,
    providerInfo: { serviceProvider: account, payee: account, name: `provider ${id}`, description: '', isActive: true },
    product: { productType: 0, capabilityKeys, isActive: true },
    productCapabilityValues,
  }
}

function recordOf({ id, provider, payer, clientDataSetId }: Omit<DataSet, 'metadata' | 'pieces'>) {
  const rails = { pdpRailId: id, cacheMissRailId: 0n, cdnRailId: 0n, commissionBps: 0n, pdpEndEpoch: 0n }
  const { account } = provider
  const ids = { dataSetId: id, providerId: provider.id, clientDataSetId }
  return { ...rails, ...ids, payer, payee: account, serviceProvider: account }
}
