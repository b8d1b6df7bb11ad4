import type { Sha256 } from '@lade/core/dag/import'
import { encodeBase64 } from '../base64.ts'
import type { Credentials } from '../http/credentials.ts'
import type { Http } from '../http/http.ts'
import { chainOfService } from './service-chain.ts'
import { SIGNATURE_TTL_SECONDS, signRequest } from './sign-request.ts'
import type { AccountWallet } from './wallet-options.ts'

const NONCE_BYTES = 16

/** An account whose key is at hand: it signs every attempt by itself, with a nonce and a time of its own. */
export function signEachRequest({ account, chainId }: AccountWallet, http: Http, sha256: Sha256): Credentials {
  const chain = chainId === undefined ? chainOfService(http) : async () => chainId
  return {
    caller: 'wallet',
    coversBodies: true,
    async prove(attempt) {
      attempt.signal?.throwIfAborted()
      const options = { account, chainId: await chain(), nonce: newNonce(), sha256 }
      const created = nowSeconds()
      const headers = await signRequest(attempt, { ...options, created })
      attempt.signal?.throwIfAborted()
      return {
        headers,
        refusedBy({ code }) {
          // The nonce is new: the runtime itself sent the attempt again, on a connection that had died.
          if (code === 'replayed_signature') return 'repeated'
          // It waited for a free connection until it was too old.
          const isOver = nowSeconds() > created + SIGNATURE_TTL_SECONDS
          return code === 'invalid_signature' && isOver ? 'unread' : undefined
        },
      }
    },
  }
}

/** 128 random bits as base64url. */
function newNonce(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(NONCE_BYTES))
  return encodeBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000)
}
