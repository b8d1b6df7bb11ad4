import { LadeError } from '@lade/core/errors'
import type { InfoResult } from '@lade/core/wire'
import type { Http } from '../http/http.ts'

/**
 * Asks the service for the id of the chain on which it looks up wallets: once, until it has answered.
 *
 * @throws {LadeError} `invalid_signature` for a service that takes no wallets.
 */
export function chainOfService(http: Http): () => Promise<number> {
  let asking: Promise<number> | undefined
  const ask = async (): Promise<number> => {
    const { wallets } = await http.json<Partial<InfoResult>>({ path: '/api/info' })
    if (wallets) return wallets.chainId
    throw new LadeError('invalid_signature', { reason: 'Wallets are not enabled on this service.' })
  }
  return () => {
    asking ??= ask().catch((error: unknown) => {
      asking = undefined
      throw error
    })
    return asking
  }
}
