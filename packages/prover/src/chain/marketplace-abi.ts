import { parseAbi } from 'viem'

/** What a prover needs of `Marketplace.sol` in `@lade/contracts`. */
export const MARKETPLACE_ABI = parseAbi([
  'struct Deal { address client; uint64 pieceSize; uint32 period; address prover; uint8 state; uint8 missesInARow; uint40 since; uint40 duration; bytes32 commp; uint128 remaining; uint128 earned; uint128 refundable; uint40 accountedUntil; uint40 challengeBlock; uint40 extraDuration; uint128 extraPayment; }',
  'function provingPeriod() view returns (uint64)',
  'function acceptanceWindow() view returns (uint64)',
  'function lastDealId() view returns (uint256)',
  'function deals(uint256 dealId) view returns (Deal)',
  'function challengedLeaf(uint256 dealId) view returns (uint256)',
  'function acceptDeal(uint256 dealId)',
  'function openChallenge(uint256 dealId)',
  'function prove(uint256 dealId, bytes32 leaf, bytes32[] path)',
  'function settle(uint256 dealId)',
  'error WrongState(uint256 dealId, uint8 state)',
  'error NotProver(uint256 dealId, address caller)',
  'error AcceptanceOver(uint256 dealId)',
  'error DealOver(uint256 dealId)',
  'error AlreadyProven(uint256 dealId)',
  'error ChallengeAlreadyOpen(uint256 dealId)',
  'error ChallengeNotOpen(uint256 dealId)',
  'error ChallengeNotDrawn(uint256 dealId)',
  'error ChallengeLapsed(uint256 dealId)',
  'error InvalidProof(uint256 dealId)',
  'error NothingToSettle(uint256 dealId)',
])
