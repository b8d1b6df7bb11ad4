import { createClient } from './create-client.ts'
import { LIMITS } from './limits.ts'
import type { LadeClient, LadeClientOptions } from './options.ts'

export { LadeError } from '@lade/core/errors'
export { newClaimSecret } from './claim-secret.ts'
export type * from './options.ts'
export { droppedItems } from './put-folder/dropped-items.ts'
export { walletOf } from './wallet/wallet.ts'
export type * from './wallet/wallet-options.ts'

/**
 * A client of one service, for one caller, in browsers and in Node.
 *
 * It computes every content id itself, cuts big files into parts, checks what it downloads, and sends again what failed on
 * the way. Nothing is opened before the first call, and nothing has to be closed.
 *
 * @throws {TypeError} for a `url` that is no http address, a `token` that no header can carry, a `wallet` that is none, both of
 *   them, or a `retry` of no such numbers.
 *
 * @example
 * import { createLadeClient } from '@lade/client'
 *
 * const client = createLadeClient({ url: 'http://127.0.0.1:8080' })
 * const { cid } = await client.put(new TextEncoder().encode('hello world'))
 * const download = await client.get(cid)
 * new TextDecoder().decode(await download.bytes()) // 'hello world'
 */
export function createLadeClient(options: LadeClientOptions = {}): LadeClient {
  return createClient(options, LIMITS)
}
