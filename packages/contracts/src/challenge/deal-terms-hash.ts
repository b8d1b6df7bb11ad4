import { type Address, encodeAbiParameters, type Hex, keccak256 } from 'viem'

/** All that a prover binds itself to when it accepts a deal. */
export interface DealTerms {
  readonly chainId: number
  readonly marketplace: Address
  readonly dealId: bigint
  readonly client: Address
  readonly prover: Address
  readonly commp: Hex
  readonly pieceSize: bigint
  readonly leafCount: bigint
  readonly durationSeconds: number
  /** Units of 10^-6 USDC for the duration. */
  readonly payment: bigint
  readonly bond: bigint
  /** Of extensions that were made before the acceptance. */
  readonly extraDurationSeconds: number
  readonly extraPayment: bigint
}

const TERM_TYPES = [
  { type: 'uint256' },
  { type: 'address' },
  { type: 'uint256' },
  { type: 'address' },
  { type: 'address' },
  { type: 'bytes32' },
  { type: 'uint256' },
  { type: 'uint64' },
  { type: 'uint40' },
  { type: 'uint96' },
  { type: 'uint96' },
  { type: 'uint40' },
  { type: 'uint96' },
] as const

/** The hash of a deal's terms, as `acceptDeal` compares it and `termsHashOf` answers it. */
export function dealTermsHash(terms: DealTerms): Hex {
  const { chainId, marketplace, dealId, client, prover, commp, pieceSize, leafCount, payment, bond } = terms
  const parties = [BigInt(chainId), marketplace, dealId, client, prover] as const
  const pay = [terms.durationSeconds, payment, bond, terms.extraDurationSeconds, terms.extraPayment] as const
  return keccak256(encodeAbiParameters(TERM_TYPES, [...parties, commp, pieceSize, leafCount, ...pay]))
}
