import { platform } from '#platform'
import { get } from './get/get.ts'
import { baseUrlOf, checkedToken } from './http/base-url.ts'
import { createHttp } from './http/http.ts'
import { retryPolicy } from './http/retry.ts'
import type { Limits } from './limits.ts'
import { dealOperations } from './operations/deals.ts'
import { fileOperations, readUsage } from './operations/files.ts'
import { readInfo, readPieceCids } from './operations/service.ts'
import { signInOperations, signUp, tokenOperations } from './operations/tokens.ts'
import type { LadeClient, LadeClientOptions } from './options.ts'
import { put } from './put/put.ts'

/** A client whose limits are given, as tests do to have files in many parts that are small. */
export function createClient(options: LadeClientOptions, limits: Limits): LadeClient {
  const { url, token, fetch, retry, threads = true } = options
  const http = createHttp({
    baseUrl: baseUrlOf(url),
    token: checkedToken(token),
    policy: retryPolicy(retry),
    transport: platform.transport(fetch),
  })
  const context = { http, platform, threads, limits }
  return {
    put: (source, putOptions) => put(context, source, putOptions),
    get: (cid, getOptions) => get(context, cid, getOptions),
    files: fileOperations(http),
    usage: (callOptions) => readUsage(http, callOptions),
    tokens: tokenOperations(http),
    deals: dealOperations(http),
    pieceCids: (cids, callOptions) => readPieceCids(http, cids, callOptions),
    signup: (request, callOptions) => signUp(http, request, callOptions),
    signIn: signInOperations(http),
    info: (callOptions) => readInfo(http, callOptions),
  }
}
