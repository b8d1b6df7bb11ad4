import * as z from 'zod'
import { bytesField } from './fields.ts'
import { TOKEN_ALGS } from './tokens.ts'
import { walletInfo } from './wallets.ts'

const tier = z.object({
  fileBytes: bytesField.describe('The largest file'),
  dailyBytes: bytesField.describe('The daily cap by default'),
  dailyFiles: z.int().optional().describe('How many files a day; absent in versions that do not limit them'),
  concurrency: z.int().describe('Uploads in flight at once'),
  termDays: z.int(),
})
export const infoResult = z.object({
  name: z.literal('lade'),
  version: z.string(),
  tiers: z.object({ sponsored: tier, token: tier.extend({ quotaMb: z.int() }) }),
  signup: z.enum(['open', 'email', 'closed']).describe('email: a token needs the code of /api/auth/start'),
  tokenAlg: z.enum(TOKEN_ALGS).describe('How tokens are signed; RS256 has its key at /.well-known/jwks.json'),
  opaqueIds: z.enum(['accept', 'refuse']),
  queryToken: z.enum(['accept', 'refuse']),
  maxTermDays: z.int(),
  wallets: walletInfo,
  contentIds: z.array(z.string()).describe('The forms of content id that are verified here'),
  docs: z.url(),
})
export type InfoResult = z.infer<typeof infoResult>

export const healthResult = z.object({ status: z.literal('ok') })
export const readyResult = z.object({
  status: z.enum(['ready', 'not_ready']),
  dependencies: z
    .record(z.string(), z.enum(['ok', 'failed', 'read_only', 'none', 'draining']))
    .describe('read_only: it can be read and not written'),
  signingKey: z
    .object({
      alg: z.enum(TOKEN_ALGS),
      ageDays: z.int().nullable().describe('Null for a key that came without a date, such as one from the environment'),
      overdue: z
        .boolean()
        .describe('Older than the 90 days after which a key is to be rotated; no reason not to be ready'),
    })
    .nullable()
    .describe('Null while there is no key'),
  clock: z
    .object({
      aheadSeconds: z.int().describe('How far its source is ahead of the agreed time; 0 while the two agree'),
      deletionPaused: z
        .boolean()
        .describe('True after a step of the clock: no file ends and nothing is deleted; no reason not to be ready'),
    })
    .optional()
    .describe('The clock of the system or the database; absent in versions that follow it wherever it goes'),
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
