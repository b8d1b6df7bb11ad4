import { createHash } from 'node:crypto'
import { pieceCidV2Bytes } from '@lade/core/piece'
import { bytesToHex, encodeAbiParameters, type LocalAccount } from 'viem'
import { pieceNamed } from '../../piece-name.ts'
import type { AddedPieces, Authorization, Hex } from './authorization.ts'
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

/** What a data set says of itself. Keys are in the order of the alphabet, as the SDK of the service signs them. */
const SOURCE = { key: 'source', value: 'lade' }
/** Has the provider index the CARs of a data set and announce their blocks. */
const WITH_IPFS_INDEXING = { key: 'withIPFSIndexing', value: '' }
/** Of a piece that is a CAR. */
const IPFS_ROOT_CID = 'ipfsRootCID'

interface MetadataEntry {
  readonly key: string
  readonly value: string
}

/**
 * For Curio: what FilecoinWarmStorageService checks before it lets a provider be paid.
 *
 * The contract takes a nonce once for each payer, and the numbers that clients give their data sets are of the same kind. Ours is
 * derived from the nonce of the addition that makes the data set, and has to be signed again with every later one, so it is kept in the
 * data set's id: `17-9f3c1a2b44d0e6aa` is the provider's 17.
 *
 * Data sets name this service as their source. Those of CARs have their blocks announced, and each piece in them names its root.
 *
 * @see filecoin-services, `FilecoinWarmStorageService.sol`
 */
export function signedAuthorization(options: SignedAuthorizationOptions): Authorization {
  const { signer, payee, recordKeeper, chainId } = options
  const domain = { name: 'FilecoinWarmStorageService', version: '1', chainId, verifyingContract: recordKeeper }

  async function signAddition(clientDataSetId: bigint, { nonce, pieceCids, ipfsRootCids }: AddedPieces): Promise<Hex> {
    const number = BigInt(`0x${nonce}`)
    const pieceData = pieceCids.map((pieceCid) => ({ data: bytesToHex(pieceCidV2Bytes(pieceNamed(pieceCid))) }))
    const metadataOf = pieceCids.map((_, index): MetadataEntry[] => {
      const root = ipfsRootCids?.[index]
      return root === undefined || root === '' ? [] : [{ key: IPFS_ROOT_CID, value: root }]
    })
    const pieceMetadata = metadataOf.map((metadata, index) => ({ pieceIndex: BigInt(index), metadata }))
    const message = { clientDataSetId, nonce: number, pieceData, pieceMetadata }
    const signature = await signer.signTypedData({ domain, types: TYPES, primaryType: 'AddPieces', message })
    return encodeAbiParameters(
      [{ type: 'uint256' }, { type: 'string[][]' }, { type: 'string[][]' }, { type: 'bytes' }],
      [number, metadataOf.map(keysOf), metadataOf.map(valuesOf), signature],
    )
  }

  async function signCreation(clientDataSetId: bigint, { ipfsRootCids }: AddedPieces): Promise<Hex> {
    const metadata = ipfsRootCids === undefined ? [SOURCE] : [SOURCE, WITH_IPFS_INDEXING]
    const message = { clientDataSetId, payee, metadata }
    const signature = await signer.signTypedData({ domain, types: TYPES, primaryType: 'CreateDataSet', message })
    return encodeAbiParameters(
      [{ type: 'address' }, { type: 'uint256' }, { type: 'string[]' }, { type: 'string[]' }, { type: 'bytes' }],
      [signer.address, clientDataSetId, keysOf(metadata), valuesOf(metadata), signature],
    )
  }

  return {
    recordKeeper,
    async creation(pieces) {
      const clientDataSetId = BigInt(`0x${clientIdOf(pieces.nonce)}`)
      const [create, add] = [await signCreation(clientDataSetId, pieces), await signAddition(clientDataSetId, pieces)]
      return encodeAbiParameters([{ type: 'bytes' }, { type: 'bytes' }], [create, add])
    },
    addition: async (dataSetId, pieces) => signAddition(clientIdIn(dataSetId), pieces),
    async removal(_nonce, dataSetId, pieceId) {
      const message = { clientDataSetId: clientIdIn(dataSetId), pieceIds: [BigInt(pieceId)] }
      const primaryType = 'SchedulePieceRemovals'
      const signature = await signer.signTypedData({ domain, types: TYPES, primaryType, message })
      return encodeAbiParameters([{ type: 'bytes' }], [signature])
    },
    dataSetId: (nonce, providerId) => `${providerId}-${clientIdOf(nonce)}`,
  }
}

const keysOf = (entries: readonly MetadataEntry[]): string[] => entries.map(({ key }) => key)
const valuesOf = (entries: readonly MetadataEntry[]): string[] => entries.map(({ value }) => value)

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
