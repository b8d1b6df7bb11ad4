import type { Addition } from '../../prover.ts'
import { refused } from './stage-failure.ts'

export type Hex = `0x${string}`

/** The pieces of one addition. Its nonce is 64 hex digits. */
export type AddedPieces = Pick<Addition, 'nonce' | 'pieceCids' | 'ipfsRootCids'>

/**
 * What shows a prover, and whoever pays it, that a change is wanted: `recordKeeper` and `extraData` of its requests.
 *
 * All of it follows from the nonce, so that a repetition is the same request, byte for byte.
 */
export interface Authorization {
  /** The contract that data sets are recorded with. */
  readonly recordKeeper: Hex
  /** For a new data set with these pieces in it. */
  creation(pieces: AddedPieces): Promise<Hex>
  /** For pieces of a data set that is there. */
  addition(dataSetId: string, pieces: AddedPieces): Promise<Hex>
  removal(nonce: string, dataSetId: string, pieceId: string): Promise<Hex>
  /** What the records call the data set that the nonce made, of which the prover's own id is a part. */
  dataSetId(nonce: string, providerId: number): string
}

const PROVIDER_ID = /^(\d{1,20})(?:-[0-9a-f]{16})?$/

/** The id by which the prover knows a data set. @throws {LadeError} `stage_failed` for what no data set here is called. */
export function providerIdOf(dataSetId: string): string {
  const id = PROVIDER_ID.exec(dataSetId)?.[1]
  if (id === undefined) throw refused('This prover has no such data set.')
  return id
}

/** For the reference prover, which looks at no signature: the nonce as it is. */
export function nonceAuthorization({ recordKeeper }: { readonly recordKeeper: Hex }): Authorization {
  return {
    recordKeeper,
    creation: async ({ nonce }) => `0x${nonce}`,
    addition: async (_dataSetId, { nonce }) => `0x${nonce}`,
    removal: async (nonce) => `0x${nonce}`,
    dataSetId: (_nonce, providerId) => String(providerId),
  }
}
