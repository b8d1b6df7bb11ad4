import { expect, it } from 'vitest'
import { RpcRefusal } from './json-rpc.ts'
import { outcomeOfRefusal } from './send-outcome.ts'

it.each([
  ['Geth', 'already known', 'accepted'],
  ['Anvil', 'transaction already imported', 'accepted'],
  ['Besu', 'Known transaction', 'accepted'],
  ['Nethermind', 'AlreadyKnown', 'accepted'],
  ['Geth', 'nonce too low: next nonce 5, tx nonce 4', 'nonce_used'],
  ['Besu', 'Nonce too low', 'nonce_used'],
  ['Nethermind', 'OldNonce, Current nonce: 5, nonce of rejected tx: 4', 'nonce_used'],
  ['Geth', 'replacement transaction underpriced', 'underpriced'],
  ['Geth', 'transaction underpriced: gas tip cap 0, minimum needed 1', 'underpriced'],
  ['Geth', 'max fee per gas less than block base fee: address 0x…, maxFeePerGas: 1, baseFee: 7', 'underpriced'],
  ['Geth of before', 'fee cap less than block base fee', 'underpriced'],
  ['Erigon', 'INTERNAL_ERROR: could not replace existing tx', 'underpriced'],
  ['Nethermind', 'FeeTooLow, MaxFeePerGas too low. MaxFeePerGas: 1, BaseFee: 7', 'underpriced'],
  ['Nethermind', 'ReplacementNotAllowed', 'underpriced'],
  ['Besu', 'Gas price below current base fee', 'underpriced'],
  ['Geth', 'insufficient funds for gas * price + value: balance 0, tx cost 1, overshot 1', 'refused'],
  ['Geth', 'intrinsic gas too low: gas 20000, minimum needed 21000', 'refused'],
  ['Geth', 'exceeds block gas limit', 'refused'],
  ['Geth', 'invalid chain id for signer: have 1 want 5', 'refused'],
  ['anybody', 'something that nobody said before', 'refused'],
])('%s: %s is %s', (_, message, outcome) => {
  const answer = outcome === 'refused' ? { outcome, reason: message } : { outcome }
  expect(outcomeOfRefusal(new RpcRefusal(-32000, message))).toEqual(answer)
})

it('error: a node that speaks of itself is offline, unless its words say what it did', () => {
  expect(() => outcomeOfRefusal(new RpcRefusal(-32005, 'limit exceeded'))).toThrow(
    expect.objectContaining({ code: 'chain_offline' }),
  )
  expect(outcomeOfRefusal(new RpcRefusal(-32603, 'replacement transaction underpriced'))).toEqual({
    outcome: 'underpriced',
  })
})
