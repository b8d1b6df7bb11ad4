import { calibration } from '@filoz/synapse-core/chains'
import type { PieceCID } from '@filoz/synapse-core/piece'
import * as typedData from '@filoz/synapse-core/typed-data'
import { type Address, decodeAbiParameters, type Hex, recoverTypedDataAddress, toHex } from 'viem'

export type Metadata = readonly typedData.MetadataEntry[]

/** What a payer says of a data set, and signs. */
interface Ownership {
  readonly payer: Address
  readonly clientDataSetId: bigint
}

const SIGNED = {
  domain: typedData.getStorageDomain({ chain: calibration }),
  types: typedData.EIP712Types,
} as const

/** What FilecoinWarmStorageService checks in the extraData of a provider's transaction: who signed it, and that no nonce is used twice. */
export function openWarmStorageSignatures() {
  const usedNonces = new Set<string>()

  function useNonce(payer: Address, nonce: bigint): void {
    const used = `${payer} ${nonce}`
    if (usedNonces.has(used)) throw new Error(`the nonce ${nonce} is used`)
    usedNonces.add(used)
  }

  async function checkAddition(extraData: Hex, owned: Ownership, pieceCids: readonly PieceCID[]): Promise<void> {
    const [nonce, keys, values, signature] = decodeAbiParameters(typedData.signAddPiecesAbiParameters, extraData)
    useNonce(owned.payer, nonce)
    const pieceData = pieceCids.map(({ bytes }) => ({ data: toHex(bytes) }))
    const pieceMetadata = pieceCids.map((_, index) => ({
      pieceIndex: BigInt(index),
      metadata: entriesOf(keys[index], values[index]),
    }))
    const message = { clientDataSetId: owned.clientDataSetId, nonce, pieceData, pieceMetadata }
    expectSigner(owned, await recoverTypedDataAddress({ ...SIGNED, primaryType: 'AddPieces', message, signature }))
  }

  return {
    checkAddition,

    async checkCreation(extraData: Hex, payee: Address, pieceCids: readonly PieceCID[]) {
      const [create, add] = decodeAbiParameters(typedData.signcreateDataSetAndAddPiecesAbiParameters, extraData)
      const [payer, clientDataSetId, keys, values, signature] = decodeAbiParameters(
        typedData.signCreateDataSetAbiParameters,
        create,
      )
      useNonce(payer, clientDataSetId)
      const metadata = entriesOf(keys, values)
      const message = { clientDataSetId, payee, metadata }
      const owned = { payer, clientDataSetId, metadata }
      expectSigner(
        owned,
        await recoverTypedDataAddress({ ...SIGNED, primaryType: 'CreateDataSet', message, signature }),
      )
      await checkAddition(add, owned, pieceCids)
      return owned
    },

    async checkRemoval(extraData: Hex, owned: Ownership, pieceIds: readonly bigint[]): Promise<void> {
      const [signature] = decodeAbiParameters([{ type: 'bytes' }], extraData)
      const message = { clientDataSetId: owned.clientDataSetId, pieceIds }
      const primaryType = 'SchedulePieceRemovals'
      expectSigner(owned, await recoverTypedDataAddress({ ...SIGNED, primaryType, message, signature }))
    },
  }
}

function expectSigner({ payer }: Ownership, signer: Address): void {
  if (signer !== payer) throw new Error(`signed by ${signer}, and not by the payer ${payer}`)
}

function entriesOf(keys: readonly string[] = [], values: readonly string[] = []): Metadata {
  return keys.map((key, index) => ({ key, value: values[index] ?? '' }))
}
