import type { SendOutcome } from '../../chain.ts'
import { chainOffline, type RpcRefusal } from './json-rpc.ts'

/**
 * What nodes say to a transaction that they do not take, in the words of Geth (core/txpool/errors.go, core/error.go), Anvil, Reth,
 * Erigon, Nethermind and Besu. The first that matches counts.
 */
const SAYINGS: readonly (readonly [RegExp, Exclude<SendOutcome['outcome'], 'refused'>])[] = [
  [/already known|already imported|alreadyknown|known transaction/, 'accepted'],
  [/nonce too low|oldnonce|nonce is too low|transaction nonce is below/, 'nonce_used'],
  // A minimum, the fee of the block, or that of the transaction that waits with the same nonce.
  [
    /underpriced|could not replace|replacementnotallowed|transaction would replace|not enough to replace/,
    'underpriced',
  ],
  [
    /(?:fee ?cap|max ?fee per gas) (?:is )?(?:less than|below|too low)|feetoolow|fee too low|tip too low/,
    'underpriced',
  ],
  [/gas price (?:is )?(?:below|too low|less than)|transaction is outdated/, 'underpriced'],
]

/**
 * Reads why a node did not take a transaction. Anything unknown is `refused`, in the node's own words.
 *
 * @throws {LadeError} `chain_offline` when the node speaks of trouble of its own.
 */
export function outcomeOfRefusal(refusal: RpcRefusal): SendOutcome {
  const words = refusal.message.toLowerCase()
  const [, outcome] = SAYINGS.find(([saying]) => saying.test(words)) ?? []
  if (outcome !== undefined) return { outcome }
  if (refusal.isTrouble) throw chainOffline(refusal)
  return { outcome: 'refused', reason: refusal.message }
}
