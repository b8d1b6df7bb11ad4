import { createPublicClient, http, type PublicClient } from 'viem'

const TIMEOUT_MS = 10_000
const CALLS_IN_ONE_REQUEST = 100

/**
 * Talks to one JSON-RPC endpoint and to nothing else: redirects are not followed, contracts lead nowhere, and what fails is
 * not asked again by itself. Calls that are made side by side travel together.
 */
export function openChainClient(rpcUrl: string): PublicClient {
  const transport = http(rpcUrl, {
    retryCount: 0,
    timeout: TIMEOUT_MS,
    batch: { batchSize: CALLS_IN_ONE_REQUEST },
    fetchOptions: { redirect: 'error' },
  })
  // A cached block number would make a block look like the one before it.
  return createPublicClient({ transport, ccipRead: false, cacheTime: 0 })
}

export type ChainClient = ReturnType<typeof openChainClient>
