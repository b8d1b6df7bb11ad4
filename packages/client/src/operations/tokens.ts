import type { RevokeResult, SignupRequest, SignupResult, StartResult, TokenList } from '@lade/core/wire'
import type { Http } from '../http/http.ts'
import { refuseUnknownOptions } from '../known-options.ts'
import type { CallOptions, LadeClient, RevokeOptions } from '../options.ts'
import { chainOfService } from '../wallet/service-chain.ts'
import { signMessage } from '../wallet/sign-message.ts'

export function tokenOperations(http: Http): LadeClient['tokens'] {
  return {
    list: ({ signal }: CallOptions = {}) => http.json<TokenList>({ path: '/api/tokens', signal }),
    async revoke(jti, options: RevokeOptions = {}) {
      refuseUnknownOptions('tokens.revoke', options, { keepLinks: true, signal: true })
      const { keepLinks, signal } = options
      return http.json<RevokeResult>({ method: 'POST', path: '/api/tokens/revoke', json: { jti, keepLinks }, signal })
    },
  }
}

/** Each signup makes another token, so one whose answer was lost is not repeated. */
export function signUp(http: Http, request: SignupRequest, { signal }: CallOptions = {}): Promise<SignupResult> {
  return http.json<SignupResult>({
    method: 'POST',
    path: '/api/auth/signup',
    json: request,
    signal,
    mayRepeat: false,
    isOpen: true,
  })
}

/** A step that is taken twice mails another code, or finds its challenge used up; so neither is repeated once it may be done. */
export function signInOperations(http: Http): LadeClient['signIn'] {
  return {
    start: (request, options) => http.json<StartResult>({ ...stepOf(options), path: '/api/auth/start', json: request }),
    verify: (request, options) =>
      http.json<SignupResult>({ ...stepOf(options), path: '/api/auth/verify', json: request }),
    sign(wallet) {
      const { chainId } = wallet
      return signMessage(wallet, chainId === undefined ? chainOfService(http) : async () => chainId, http)
    },
  }
}

function stepOf({ signal }: CallOptions = {}) {
  return { method: 'POST', mayRepeat: false, isOpen: true, signal } as const
}
