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
        operationId: 'getWalletNonce',
        summary: 'Get a nonce for a sign-in',
        description: 'First step of a wallet sign-in. Put the nonce into the EIP-4361 message.',
        response: { 200: walletNonceResult.describe('The nonce'), ...problems(401, 429, 503) },
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
        operationId: 'verifyWallet',
        summary: 'Exchange a signed message for a token',
        description:
          'Accepts an EIP-4361 message (Sign-In with Ethereum) for this service and chain, with the nonce ' +
          'of the first step, and its signature. The token has all scopes and is valid for 15 minutes.',
        body: walletVerifyRequest,
        response: {
          200: walletVerifyResult.describe('The token; it is not shown again'),
          ...problems(400, 401, 429, 503),
        },
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
