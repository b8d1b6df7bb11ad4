import { LadeError } from '@lade/core/errors'
import { isZeroAddress, type WalletVerifyRequest, type WalletVerifyResult } from '@lade/core/wire'
import type { NonceRecords } from '../records/record-store.ts'
import type { SigningKeys } from '../tokens/signing-keys.ts'
import { mintToken } from '../tokens/token-jwt.ts'
import { SIGN_IN_SECONDS } from './issue-nonce.ts'
import { parseSignInMessage, type SignInMessage } from './sign-in-message.ts'
import { refused } from './signature-input.ts'
import { CLOCK_SKEW_SECONDS } from './verify-request.ts'
import type { Wallet } from './wallet.ts'
import type { WalletChain } from './wallet-chains.ts'
import { walletClaims } from './wallet-token.ts'

const SKEW_MS = CLOCK_SKEW_SECONDS * 1000

export interface SignInDeps {
  readonly chain: WalletChain
  readonly nonces: NonceRecords
  readonly keys: SigningKeys
  readonly publicUrl: () => string
  readonly now: () => number
  readonly newId: () => string
}

/**
 * Gives a wallet a token for a signed EIP-4361 message.
 *
 * The message is for this service (domain and URI), its chain and this moment, and has a nonce that was handed out here and
 * is used up by this. The token is good for 15 minutes, or until the message expires where that is sooner. What is cheap to
 * ask is asked first, also whether the nonce is good, then the signature. The nonce is used up last.
 *
 * @throws {LadeError} `invalid_signature` with what is wrong; `invalid_nonce` for one that was never handed out, is used up
 *   or too old; `chain_offline`, `over_budget`, `auth_offline`, `storage_failed`.
 * @see docs/protocol/wallets.md; EIP-4361.
 */
export async function signIn(deps: SignInDeps, request: WalletVerifyRequest): Promise<WalletVerifyResult> {
  const key = deps.keys.current()
  const { wallet, notAfter } = await redeemSignInMessage(deps, request)
  const { origin } = new URL(deps.publicUrl())
  const claims = walletClaims(wallet, { origin, now: deps.now(), notAfter, jti: deps.newId() })
  const token = await mintToken(claims, key, deps.publicUrl())
  return { token, address: wallet.address, expiresAt: new Date(claims.exp * 1000).toISOString() }
}

/**
 * The wallet that signed the message, and until when it wants to be signed in at the latest, in epoch milliseconds. Uses the nonce up.
 *
 * @throws {LadeError} as {@link signIn}.
 */
export async function redeemSignInMessage(
  deps: Omit<SignInDeps, 'keys' | 'newId'>,
  request: WalletVerifyRequest,
): Promise<{ readonly wallet: Wallet; readonly notAfter: number }> {
  const { chain, nonces } = deps
  const message = parseSignInMessage(request.message)
  const signature = bytesOf(request.signature)
  const { wallet, nonce } = message
  const { origin, host, protocol } = new URL(deps.publicUrl())
  requireForHere(message, { origin, host, scheme: protocol.slice(0, -1), chainId: chain.chainId })
  requireNow(message, deps.now())
  if (!(await nonces.isIssued({ nonce, now: deps.now() }))) throw new LadeError('invalid_nonce', {})

  const signed = new TextEncoder().encode(request.message)
  if (!(await chain.isSignedBy({ account: wallet.address, message: signed, signature }))) {
    throw refused(`This is not a signature of this message by ${wallet.address}.`)
  }
  if (!(await nonces.redeem({ nonce, now: deps.now() }))) throw new LadeError('invalid_nonce', {})

  return { wallet, notAfter: message.expirationTime ?? Number.POSITIVE_INFINITY }
}

interface Here {
  readonly origin: string
  readonly host: string
  readonly scheme: string
  readonly chainId: number
}

function requireForHere({ scheme, domain, uri, version, wallet }: SignInMessage, here: Here): void {
  if (version !== '1') throw refused('The version of the message is not 1.')
  if (domain.toLowerCase() !== here.host || (scheme ?? here.scheme).toLowerCase() !== here.scheme) {
    throw refused(`The message is for another domain; expected ${here.host}.`)
  }
  if (!URL.canParse(uri) || new URL(uri).origin !== here.origin) {
    throw refused(`The URI of the message must start with ${here.origin}.`)
  }
  if (wallet.chainId !== here.chainId) throw refused(`The message is for another chain; expected ${here.chainId}.`)
  if (isZeroAddress(wallet.address)) throw refused('The zero address cannot sign.')
}

function requireNow({ issuedAt, expirationTime, notBefore }: SignInMessage, now: number): void {
  if (issuedAt > now + SKEW_MS) throw refused('The message was issued in the future. Check your clock.')
  if (issuedAt + SIGN_IN_SECONDS * 1000 + SKEW_MS <= now) throw refused('The message was issued too long ago.')
  if (expirationTime !== undefined && expirationTime <= now) throw refused('The message has expired.')
  if (notBefore !== undefined && notBefore > now + SKEW_MS) throw refused('The message is not valid yet.')
}

function bytesOf(hex: string): Uint8Array {
  if (!/^0x(?:[0-9a-fA-F]{2})+$/.test(hex)) throw refused('The signature must be 0x and hex.')
  return Buffer.from(hex.slice(2), 'hex')
}
