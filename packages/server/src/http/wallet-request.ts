import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { LadeError } from '@lade/core/errors'
import { readWalletSignature, refused } from '../wallets/signature-input.ts'
import { verifyRequest } from '../wallets/verify-request.ts'
import type { Wallet } from '../wallets/wallet.ts'
import type { WalletChain } from '../wallets/wallet-chains.ts'
import type { WalletAudience } from '../wallets/wallet-token.ts'
import { contentSha256 } from './body-digest.ts'
import { announcesBody } from './framing.ts'
import { STATUS } from './problem.ts'
import { requestPrincipal } from './request-principal.ts'
import type { Service } from './service.ts'

/** What wallets are measured by. */
export interface WalletRules {
  readonly chainId: number
  /** In the mixed case of EIP-55. */
  readonly usdc: string
  readonly microUsdcPerGib: bigint
}

/** Undefined where wallets are no callers. */
export function walletRulesOf({ chain, config }: Service): WalletRules | undefined {
  if (chain === undefined || config.chain === undefined) return undefined
  const { usdc, microUsdcPerGib } = config.chain
  return { chainId: chain.chainId, usdc, microUsdcPerGib }
}

/** The chain for what this request wants to know of it; undefined where wallets are no callers. */
export function walletChainOf(service: Service, request: IncomingMessage): WalletChain | undefined {
  return service.walletChains?.for(requestPrincipal(service, request), () => request.socket.destroyed)
}

/** What a token that a wallet signed in for has to be for. */
export function walletAudienceOf(service: Service): WalletAudience | undefined {
  const rules = walletRulesOf(service)
  return rules && { origin: new URL(service.publicUrl()).origin, chainId: rules.chainId }
}

/**
 * The wallet that signed this request, verified, its nonce used up; undefined when no wallet did.
 *
 * @param hasToken - true when the request carries a token as well: one of the two would be looked at by nobody.
 * @throws {LadeError} `bad_request` for a signature beside a token; `invalid_signature`, `replayed_signature`,
 *   `chain_offline`, `over_budget`, `storage_failed`.
 */
export async function walletOfRequest(
  service: Service,
  request: IncomingMessage,
  { hasToken }: { readonly hasToken: boolean },
): Promise<Wallet | undefined> {
  const { headers, rawHeaders, method = '', url = '/' } = request
  const signed = readWalletSignature({
    signatureInput: textOf(headers['signature-input']),
    signature: textOf(headers.signature),
  })
  if (signed === undefined) return undefined
  if (hasToken) {
    throw new LadeError('bad_request', { reason: 'The request has a wallet signature and a token. Send only one.' })
  }
  const chain = walletChainOf(service, request)
  if (chain === undefined) throw refused('Wallets are not enabled on this service. Use a token.')
  // Ahead of all that costs more than looking at the head: recovering a key, and asking the records about the nonce.
  service.budget.require(requestPrincipal(service, request), 'chain')
  const deps = { chain, nonces: service.records.nonces, now: service.now }
  return verifyRequest(deps, signed, {
    method,
    target: url,
    rawHeaders,
    publicUrl: service.publicUrl(),
    hasBody: announcesBody(request),
    hasSha256: contentSha256(request) !== undefined,
  })
}

/**
 * What a request without good credentials is told that a wallet could sign (RFC 9421, section 5). Empty for any other
 * answer, and where wallets are no callers.
 */
export function signatureRequestHeaders(
  service: Service,
  request: IncomingMessage,
  error: LadeError,
): OutgoingHttpHeaders {
  if (STATUS[error.code] !== 401 || walletRulesOf(service) === undefined) return {}
  const components = ['@method', '@authority', '@path']
  if (request.url?.includes('?')) components.push('@query')
  if (announcesBody(request)) components.push('content-digest')
  const covered = components.map((name) => `"${name}"`).join(' ')
  return { 'accept-signature': `eth=(${covered});created;expires;nonce;keyid` }
}

function textOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(', ') : header
}
