import { LadeError } from '@lade/core/errors'
import { walletPrincipal } from '../quotas/principal.ts'
import type { NonceRecords } from '../records/record-store.ts'
import { type SignedRequest, signatureBase } from './signature-base.ts'
import { refused, type WalletSignature } from './signature-input.ts'
import type { Wallet } from './wallet.ts'
import type { WalletChain } from './wallet-chains.ts'

/** The longest that a signature may be good for, and by how much clocks may differ. */
const MAXIMUM_VALIDITY_SECONDS = 300
export const CLOCK_SKEW_SECONDS = 60

/** What every signature covers; `@query` with a query and `content-digest` with a body come on top. */
const ALWAYS_COVERED = ['@method', '@authority', '@path']

export interface VerifyRequestDeps {
  readonly chain: WalletChain
  readonly nonces: NonceRecords
  readonly now: () => number
}

/** A request, and of its body what its head says. */
export interface RequestToVerify extends SignedRequest {
  readonly hasBody: boolean
  /** True when `Content-Digest` has a sha-256, which the body will be compared with. */
  readonly hasSha256: boolean
}

/**
 * Verifies that a wallet signed this request, and uses up the nonce of the signature.
 *
 * Taken is what binds the whole request and can be used once: it covers `@method`, `@authority` and `@path`, `@query` where
 * there is one and `content-digest` where there is a body, and is good for five minutes at most. What is cheap to ask is
 * asked first, also whether the nonce was used before, then the signature. The nonce is used up last, so that nobody uses up those of others.
 *
 * @throws {LadeError} `invalid_signature` with what is wrong, `replayed_signature`, `chain_offline` when only the chain can
 *   tell and does not, `over_budget`, `storage_failed`.
 * @see docs/protocol/wallets.md; ERC-8128; RFC 9421.
 */
export async function verifyRequest(
  deps: VerifyRequestDeps,
  signed: WalletSignature,
  request: RequestToVerify,
): Promise<Wallet> {
  const { chain, nonces, now } = deps
  const { wallet, components, nonce, expires } = signed
  if (wallet.chainId !== chain.chainId) throw refused(`keyid names another chain; expected ${chain.chainId}.`)
  requireInTime(signed, now() / 1000)
  requireBound(components, request)
  const account = walletPrincipal(wallet)
  if (await nonces.isUsed({ account, nonce })) throw new LadeError('replayed_signature', {})
  const message = signatureBase(request, components, signed.signatureParams)
  if (!(await chain.isSignedBy({ account: wallet.address, message, signature: signed.signature }))) {
    const { host } = new URL(request.publicUrl)
    throw refused(`This is not a signature of this request to ${host} by ${wallet.address}.`)
  }
  // Remembered for longer than it is taken, should the clock be set back by as much as clocks may differ.
  const until = (expires + 2 * CLOCK_SKEW_SECONDS) * 1000
  const isFirst = await nonces.use({ account, nonce, until })
  if (!isFirst) throw new LadeError('replayed_signature', {})
  return wallet
}

function requireInTime({ created, expires }: WalletSignature, nowSeconds: number): void {
  if (expires <= created) throw refused('The signature expires before it is created.')
  if (expires - created > MAXIMUM_VALIDITY_SECONDS) {
    throw refused(
      `The signature is valid for ${expires - created} seconds; the maximum is ${MAXIMUM_VALIDITY_SECONDS}.`,
    )
  }
  if (created > nowSeconds + CLOCK_SKEW_SECONDS)
    throw refused('The signature was created in the future. Check your clock.')
  if (expires + CLOCK_SKEW_SECONDS <= nowSeconds) throw refused('The signature has expired. Sign the request again.')
}

function requireBound(components: readonly string[], { target, hasBody, hasSha256 }: RequestToVerify): void {
  const needed = [
    ...ALWAYS_COVERED,
    ...(target.includes('?') ? ['@query'] : []),
    ...(hasBody ? ['content-digest'] : []),
  ]
  const lacking = needed.filter((name) => !components.includes(name))
  if (lacking.length > 0) throw refused(`The signature does not cover ${lacking.join(', ')}.`)
  if (hasBody && !hasSha256) throw refused('Content-Digest has no sha-256.')
}
