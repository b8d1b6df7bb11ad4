import { walletNonceResult, walletVerifyRequest, walletVerifyResult } from '@lade/core/wire'
import { addressPrincipal } from '../../../quotas/principal.ts'
import { issueNonce } from '../../../wallets/issue-nonce.ts'
import { NonceLimit } from '../../../wallets/nonce-limit.ts'
import { signIn } from '../../../wallets/sign-in.ts'
import { requestPrincipal } from '../../request-principal.ts'
import type { Service } from '../../service.ts'
import { walletChainOf } from '../../wallet-request.ts'
import { problems, type Routes } from '../routes.ts'

/** Where wallets are callers: `/api/auth/wallet/nonce` and `/api/auth/wallet/verify`. */
export function walletRoutes(app: Routes, service: Service): void {
  if (service.walletChains === undefined) return
  const { nonces } = service.records
  const limit = new NonceLimit()

  app.post(
    '/api/auth/wallet/nonce',
    {
      schema: {
        tags: ['wallets'],
        summary: 'Get a nonce to sign in with',
        description: 'The first of two steps by which a wallet gets a token. The nonce goes into the EIP-4361 message.',
        response: { 200: walletNonceResult.describe('The nonce'), ...problems(429, 503) },
      },
    },
    async (request) => {
      const address = addressPrincipal(service.clientAddress(request.raw))
      return issueNonce({ nonces, limit, now: service.now }, { address })
    },
  )

  app.post(
    '/api/auth/wallet/verify',
    {
      schema: {
        tags: ['wallets'],
        summary: 'Get a token for a signed message',
        description:
          'Takes a message of EIP-4361 (Sign-In with Ethereum) for this service, this chain and this moment, with the nonce ' +
          'of the first step, and what the wallet signed of it. The token has all scopes and is good for 15 minutes.',
        body: walletVerifyRequest,
        response: { 200: walletVerifyResult.describe('The token, shown this once'), ...problems(400, 401, 429, 503) },
      },
    },
    async (request) => {
      const chain = walletChainOf(service, request.raw)
      // The route is there only where wallets are callers.
      if (chain === undefined) throw new TypeError('wallets are no callers here')
      service.budget.require(requestPrincipal(service, request.raw), 'chain')
      return signIn({ ...service, chain, nonces }, request.body)
    },
  )
}
