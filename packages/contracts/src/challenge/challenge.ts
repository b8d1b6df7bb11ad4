/** What a prover computes before it calls the marketplace, and what a chain must have for that. */
export { encodeBlockHeader, type RpcBlockHeader } from './block-header.ts'
export { type BlockReader, type ChainRandomness, readChainRandomness } from './chain-randomness.ts'
export { CHALLENGED_LEAVES, challengedLeaves, type DealChallenge } from './challenged-leaves.ts'
export { type DealTerms, dealTermsHash } from './deal-terms-hash.ts'
