import type { WalletVerifyResult } from '@lade/core/wire'
import type { Credentials } from '../http/credentials.ts'
import type { Http } from '../http/http.ts'
import { chainOfService } from './service-chain.ts'
import { signMessage } from './sign-message.ts'
import type { SignInWallet } from './wallet-options.ts'

/** A token is renewed when it has less than this left, so that it does not end under way. */
const RENEW_BEFORE_MS = 60_000

interface Session {
  readonly token: string
  readonly endsAtMs: number
}

/** A wallet that somebody sits at: it signs in once by EIP-4361, and the token it gets goes with every request. */
export function signInOnce(wallet: SignInWallet, http: Http): Credentials {
  const { chainId } = wallet
  const chain = chainId === undefined ? chainOfService(http) : async () => chainId
  let { address } = wallet
  let session: Session | undefined
  let signingIn: Promise<Session> | undefined

  async function signIn(): Promise<Session> {
    const { address: signer, message, signature } = await signMessage({ ...wallet, address }, chain, http)
    const { token, expiresAt } = await http.json<WalletVerifyResult>({
      method: 'POST',
      path: '/api/auth/wallet/verify',
      json: { message, signature },
      mayRepeat: false,
    })
    address = signer
    session = { token, endsAtMs: Date.parse(expiresAt) }
    return session
  }

  async function current(): Promise<Session> {
    if (session !== undefined && session.endsAtMs - Date.now() > RENEW_BEFORE_MS) return session
    // Whoever comes while the wallet is asked waits for the same answer.
    signingIn ??= signIn().finally(() => {
      signingIn = undefined
    })
    return signingIn
  }

  return {
    caller: 'wallet',
    coversBodies: false,
    async prove({ signal }) {
      const used = await unlessAborted(current(), signal)
      return {
        headers: { authorization: `Bearer ${used.token}` },
        refusedBy({ code }) {
          if (code !== 'invalid_token') return undefined
          // Another request may have signed in again meanwhile.
          if (session === used) session = undefined
          return 'unread'
        },
      }
    },
  }
}

/** Whoever gives up waits no longer; the question to the wallet stays for the others. */
function unlessAborted<Value>(waiting: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (signal === undefined) return waiting
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(signal.reason)
    waiting.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp))
    if (signal.aborted) return giveUp()
    signal.addEventListener('abort', giveUp, { once: true })
  })
}
