import { createHash } from 'node:crypto'
import { pieceCidV2Bytes } from '@lade/core/piece'
import { bytesToHex, encodeAbiParameters, type LocalAccount } from 'viem'
import { pieceNamed } from '../../piece-name.ts'
import type { Authorization, Hex } from './authorization.ts'
import { refused } from './stage-failure.ts'

/** The account that pays for storage: it signs typed data (EIP-712) by its own key. */
export type StorageSigner = Pick<LocalAccount, 'address' | 'signTypedData'>

export interface SignedAuthorizationOptions {
  readonly signer: StorageSigner
  /** The account that the provider is paid at. */
  readonly payee: Hex
  /** FilecoinWarmStorageService. */
  readonly recordKeeper: Hex
  readonly chainId: number
}

/** The types that FilecoinWarmStorageService 1 has signed. */
const TYPES = {
  MetadataEntry: [
    { name: 'key', type: 'string' },
    { name: 'value', type: 'string' },
  ],
  CreateDataSet: [
    { name: 'clientDataSetId', type: 'uint256' },
    { name: 'payee', type: 'address' },
    { name: 'metadata', type: 'MetadataEntry[]' },
  ],
  Cid: [{ name: 'data', type: 'bytes' }],
  PieceMetadata: [
    { name: 'pieceIndex', type: 'uint256' },
    { name: 'metadata', type: 'MetadataEntry[]' },
  ],
  AddPieces: [
    { name: 'clientDataSetId', type: 'uint256' },
    { name: 'nonce', type: 'uint256' },
    { name: 'pieceData', type: 'Cid[]' },
    { name: 'pieceMetadata', type: 'PieceMetadata[]' },
  ],
  SchedulePieceRemovals: [
    { name: 'clientDataSetId', type: 'uint256' },
    { name: 'pieceIds', type: 'uint256[]' },
  ],
} as const

const NONE: readonly string[] = []

/**
 * For Curio: what FilecoinWarmStorageService checks before it lets a provider be paid.
 *
 * The contract takes a nonce once for each payer, and the numbers that clients give their data sets are of the same kind. Ours is
 * derived from the nonce of the addition that makes the data set, and has to be signed again with every later one, so it is kept in the
 * data set's id: `17-9f3c1a2b44d0e6aa` is the provider's 17. Pieces and data sets have no metadata.
 *
 * @see filecoin-services, `FilecoinWarmStorageService.sol`
 */
export function signedAuthorization(options: SignedAuthorizationOptions): Authorization {
  const { signer, payee, recordKeeper, chainId } = options
  const domain = { name: 'FilecoinWarmStorageService', version: '1', chainId, verifyingContract: recordKeeper }

  async function signAddition(nonce: string, clientDataSetId: bigint, pieceCids: readonly string[]): Promise<Hex> {
    const number = BigInt(`0x${nonce}`)
    const pieceData = pieceCids.map((pieceCid) => ({ data: bytesToHex(pieceCidV2Bytes(pieceNamed(pieceCid))) }))
    const pieceMetadata = pieceCids.map((_, index) => ({ pieceIndex: BigInt(index), metadata: [] }))
    const message = { clientDataSetId, nonce: number, pieceData, pieceMetadata }
    const signature = await signer.signTypedData({ domain, types: TYPES, primaryType: 'AddPieces', message })
    const noMetadata = pieceCids.map(() => NONE)
    return encodeAbiParameters(
      [{ type: 'uint256' }, { type: 'string[][]' }, { type: 'string[][]' }, { type: 'bytes' }],
      [number, noMetadata, noMetadata, signature],
    )
  }

  async function signCreation(clientDataSetId: bigint): Promise<Hex> {
    const message = { clientDataSetId, payee, metadata: [] }
    const signature = await signer.signTypedData({ domain, types: TYPES, primaryType: 'CreateDataSet', message })
    return encodeAbiParameters(
      [{ type: 'address' }, { type: 'uint256' }, { type: 'string[]' }, { type: 'string[]' }, { type: 'bytes' }],
      [signer.address, clientDataSetId, NONE, NONE, signature],
    )
  }

  return {
    recordKeeper,
    async creation(nonce, pieceCids) {
      const clientDataSetId = BigInt(`0x${clientIdOf(nonce)}`)
      const [create, add] = [await signCreation(clientDataSetId), await signAddition(nonce, clientDataSetId, pieceCids)]
      return encodeAbiParameters([{ type: 'bytes' }, { type: 'bytes' }], [create, add])
    },
    addition: async (nonce, dataSetId, pieceCids) => signAddition(nonce, clientIdIn(dataSetId), pieceCids),
    async removal(_nonce, dataSetId, pieceId) {
      const message = { clientDataSetId: clientIdIn(dataSetId), pieceIds: [BigInt(pieceId)] }
      const primaryType = 'SchedulePieceRemovals'
      const signature = await signer.signTypedData({ domain, types: TYPES, primaryType, message })
      return encodeAbiParameters([{ type: 'bytes' }], [signature])
    },
    dataSetId: (nonce, providerId) => `${providerId}-${clientIdOf(nonce)}`,
  }
}

/** The number that we give a data set: 64 bits in hex, never a nonce that is used otherwise. */
function clientIdOf(nonce: string): string {
  return createHash('sha256').update(`data set ${nonce}`).digest('hex').slice(0, 16)
}

function clientIdIn(dataSetId: string): bigint {
  const id = /-([0-9a-f]{16})$/.exec(dataSetId)?.[1]
  if (id === undefined)
    throw refused('This service did not create the data set, so the service cannot sign for the data set.')
  return BigInt(`0x${id}`)
}
