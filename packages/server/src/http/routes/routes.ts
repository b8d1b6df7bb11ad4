import type { Server } from 'node:http'
import { cidText, problem } from '@lade/core/wire'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
} from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import * as z from 'zod'
import { codesOf } from '../problem.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Parameters that may stand in the query more than once; every other is refused when it does. */
    readonly repeatable?: readonly string[]
    /** True where the Authorization header has a token of its own kind, which the route looks at. */
    readonly hasOwnToken?: boolean
  }
}

/** The framework instance with the wire schemas as its types. */
export type Routes = FastifyInstance<
  Server,
  RawRequestDefaultExpression<Server>,
  RawReplyDefaultExpression<Server>,
  FastifyBaseLogger,
  ZodTypeProvider
>

/** The error responses of an endpoint, for its documentation: each status with the codes that it may carry. */
export function problems(...statuses: readonly number[]): Record<number, typeof problem> {
  return Object.fromEntries(statuses.map((status) => [status, problem.describe(codesOf(status).join(', '))]))
}

/** An endpoint that needs a token or the signature of a wallet, for its documentation. */
export const security = [{ bearer: [] }, { walletInput: [], walletSignature: [] }]

/** Raw bytes as a body, for the documentation. */
export const bytes = z.unknown().meta({ type: 'string', format: 'binary' })

/** A response with raw bytes of one of these media types, for the documentation. */
export function bytesOf(description: string, ...mediaTypes: readonly string[]) {
  return { description, content: Object.fromEntries(mediaTypes.map((type) => [type, { schema: bytes }])) }
}

/** A response without a body, for the documentation. */
export function emptyResponse(description: string) {
  return { description, content: {} }
}

/** What an endpoint that needs a token may find in its query. The documentation has it as a way to authenticate. */
export const tokenQuery = z.object({
  token: z.string().optional().describe('Deprecated form of the Authorization header'),
})

/** The path parameter of every address that ends in a content id. Its form is checked where it is used. */
export const cidParams = z.object({ cid: cidText })

/** What a handler of this file never is: the hook before it has taken the request over. */
export function takenOver(): never {
  throw new TypeError('the request was answered before the handler')
}
