import { ANVIL_KEY } from '@lade/contracts/anvil'
import { createTestClient, http, publicActions, walletActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

/** Everything that a test does on a chain, as anvil's first account. */
export type TestChain = ReturnType<typeof openTestChain>

export function openTestChain(rpcUrl: string) {
  const account = privateKeyToAccount(ANVIL_KEY)
  return createTestClient({ mode: 'anvil', account, transport: http(rpcUrl), cacheTime: 0 })
    .extend(publicActions)
    .extend(walletActions)
}
