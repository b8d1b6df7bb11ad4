import { platform } from '#platform'
import { get } from './get/get.ts'
import { baseUrlOf, checkedToken } from './http/base-url.ts'
import { bearer, browserSession, type Credentials } from './http/credentials.ts'
import { createHttp, type Http } from './http/http.ts'
import { retryPolicy } from './http/retry.ts'
import { type OptionNames, refuseUnknownOptions } from './known-options.ts'
import type { Limits } from './limits.ts'
import { adminOperations } from './operations/admin.ts'
import { challenge } from './operations/challenge.ts'
import { dealOperations } from './operations/deals.ts'
import { fileOperations, readUsage } from './operations/files.ts'
import { readInfo, readPieceCids } from './operations/service.ts'
import { sessionOperations } from './operations/sessions.ts'
import { signInOperations, signUp, tokenOperations } from './operations/tokens.ts'
import type { LadeClient, LadeClientOptions } from './options.ts'
import { put } from './put/put.ts'
import { signEachRequest } from './wallet/sign-each-request.ts'
import { signInOnce } from './wallet/sign-in.ts'
import { checkedAccount, walletOf } from './wallet/wallet.ts'

const CLIENT_OPTIONS: OptionNames<LadeClientOptions> = {
  url: true,
  token: true,
  wallet: true,
  session: true,
  fetch: true,
  retry: true,
  onRetry: true,
  threads: true,
}

/** A client whose limits are given, as tests do to have files in many parts that are small. */
export function createClient(options: LadeClientOptions, limits: Limits): LadeClient {
  refuseUnknownOptions('createLadeClient', options, CLIENT_OPTIONS)
  const { url, fetch, retry, onRetry, threads = true } = options
  const service = { baseUrl: baseUrlOf(url), policy: retryPolicy(retry), onRetry, transport: platform.transport(fetch) }
  const http = createHttp({ ...service, credentials: credentialsOf(options, createHttp(service)) })
  const context = { http, platform, threads, limits }
  return {
    put: (source, putOptions) => put(context, source, putOptions),
    // Loaded when it is needed: directories take as much code as all the rest.
    putFolder: async (source, putOptions) =>
      (await import('./put-folder/put-folder.ts')).putFolder(context, source, putOptions),
    async *readFolder(cid, readOptions) {
      yield* (await import('./get/read-folder.ts')).readFolder(context, cid, readOptions)
    },
    get: (cid, getOptions) => get(context, cid, getOptions),
    files: fileOperations(http),
    usage: (callOptions) => readUsage(http, callOptions),
    tokens: tokenOperations(http),
    deals: dealOperations(http),
    challenge: (cid, callOptions) => challenge(context, cid, callOptions),
    pieceCids: (cids, callOptions) => readPieceCids(http, cids, callOptions),
    signup: (request, callOptions) => signUp(http, request, callOptions),
    signIn: signInOperations(http),
    session: sessionOperations(http),
    admin: adminOperations(http),
    info: (callOptions) => readInfo(http, callOptions),
  }
}

/** @param http - without credentials, for what has to be asked to have some. @throws {TypeError} for what are none. */
function credentialsOf({ token, wallet, session }: LadeClientOptions, http: Http): Credentials | undefined {
  if (session === true) {
    if (token !== undefined || wallet !== undefined)
      throw new TypeError('A client has a session or a token or a wallet')
    return browserSession()
  }
  if (wallet === undefined) return token === undefined ? undefined : bearer(checkedToken(token))
  if (token !== undefined) throw new TypeError('Pass a token or a wallet, not both')
  if ('provider' in wallet) return signInOnce(walletOf(wallet.provider, wallet), http)
  return signEachRequest(checkedAccount(wallet), http, platform.sha256)
}
