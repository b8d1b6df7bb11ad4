import * as z from 'zod'
import { bytesField } from './fields.ts'
import { TOKEN_ALGS } from './tokens.ts'
import { walletInfo } from './wallets.ts'

const tier = z.object({
  fileBytes: bytesField.describe('The largest file'),
  dailyBytes: bytesField.describe('Default daily quota'),
  dailyFiles: z.int().optional().describe('Daily limit of files; absent in versions without this limit'),
  storedBytes: bytesField
    .nullable()
    .optional()
    .describe('The most that may be stored at a time; null for no limit, absent in versions without this limit'),
  concurrency: z.int().describe('Simultaneous uploads'),
  termDays: z.int(),
})
export const infoResult = z.object({
  name: z.literal('lade'),
  version: z.string(),
  tiers: z.object({ sponsored: tier, token: tier.extend({ quotaMb: z.int() }) }),
  signup: z.enum(['open', 'email', 'closed']).describe('email: a token needs a login code from /api/auth/start'),
  tokenAlg: z.enum(TOKEN_ALGS).describe('Signing algorithm; the RS256 public key is at /.well-known/jwks.json'),
  opaqueIds: z.enum(['accept', 'refuse']),
  queryToken: z.enum(['accept', 'refuse']),
  maxTermDays: z.int(),
  wallets: walletInfo,
  contentIds: z.array(z.string()).describe('Kinds of content ids that the service verifies'),
  sitesUrl: z
    .string()
    .nullable()
    .optional()
    .describe('Hosts of sites, with * for the CID of a root; null if there are none, absent in versions without sites'),
  docs: z.url(),
})
export type InfoResult = z.infer<typeof infoResult>

export const healthResult = z.object({ status: z.literal('ok') })
export const readyResult = z.object({
  status: z.enum(['ready', 'not_ready']),
  dependencies: z
    .record(z.string(), z.enum(['ok', 'failed', 'read_only', 'none', 'draining']))
    .describe('read_only: reads work, writes do not'),
  signingKey: z
    .object({
      alg: z.enum(TOKEN_ALGS),
      ageDays: z.int().nullable().describe('Null if the key has no date, such as one from the environment'),
      overdue: z
        .boolean()
        .describe('True if the key is older than 90 days and should be rotated; the service stays ready'),
    })
    .nullable()
    .describe('Null while there is no key'),
  clock: z
    .object({
      aheadSeconds: z.int().describe('How far the clock source is ahead of the agreed time; 0 if they agree'),
      deletionPaused: z.boolean().describe('True after a clock step: no file expires; the service stays ready'),
    })
    .optional()
    .describe('State of the system or database clock; absent in versions that always follow it'),
})
export type ReadyResult = z.infer<typeof readyResult>

/** Every error body: `error` and `detail` are what existing clients read, the rest is RFC 9457, then the evidence. */
export const problem = z
  .object({
    error: z.string().describe('The stable code'),
    detail: z.string().describe('One sentence for people'),
    type: z.string(),
    title: z.string(),
    status: z.int(),
    requestId: z.string(),
  })
  .catchall(z.unknown())
export type Problem = z.infer<typeof problem>
