import * as z from 'zod'
import {
  bytesField,
  cidField,
  cursorText,
  dayField,
  emailField,
  ownerField,
  pageLimit,
  textOf,
  timeField,
} from './fields.ts'
import { fileEntry } from './files.ts'
import { tokenEntry } from './tokens.ts'

/** Days of the trend in `GET /api/admin/overview`, and of one caller. */
export const ADMIN_TREND_DAYS = 30

/** The largest page of callers and of files of anybody. */
export const MAX_ADMIN_PER_PAGE = 1000

/** The most that a limit may be set to, in MB. */
const MAXIMUM_LIMIT_MB = 1_000_000_000

const tokenText = z.string().optional().describe('Deprecated form of the Authorization header')
const amount = z.object({ bytes: bytesField, files: z.int() })
const day = amount.extend({ date: dayField })
const principalField = z.string().describe('Who is charged: user:{id}, wallet:{chainId}:{address} or ip:{address}')

export const adminOverview = z.object({
  version: z.string(),
  at: timeField,
  stored: amount.extend({ principals: z.int().describe('Callers with stored files') }),
  uploads: z.object({ running: z.int(), reservedBytes: bytesField.describe('Reserved by running uploads') }),
  days: z
    .array(
      day.extend({
        storedBytes: bytesField.nullable().describe('Stored at the end of that day; null where nobody noted it'),
      }),
    )
    .describe(`What was charged to all callers, in the last ${ADMIN_TREND_DAYS} days, oldest first`),
})
export type AdminOverview = z.infer<typeof adminOverview>

const limits = z.object({
  dailyBytes: bytesField.nullable().describe('Daily quota that was set for this caller; null for that of the tier'),
  storedBytes: bytesField.nullable().describe('Limit of stored bytes that was set; null for that of the tier'),
})

const callerBlock = z.object({ reason: z.string(), blockedAt: timeField })

const principalEntry = z.object({
  principal: principalField,
  email: emailField.describe('Of a user, as its tokens have it; null for others'),
  stored: amount,
  today: amount.describe('Charged today'),
  lastUploadDay: dayField.nullable(),
  lastSeenAt: timeField.nullable().describe('Last use of a token; null for callers without one'),
  limits,
  blocked: callerBlock.optional().describe('Since when the operator refuses the caller, and why; absent for others'),
})
export type AdminPrincipalEntry = z.infer<typeof principalEntry>

const ADMIN_PRINCIPAL_ORDERS = ['principal', 'stored', 'today'] as const

export const adminPrincipalsQuery = z.object({
  cursor: cursorText.optional(),
  limit: pageLimit(MAX_ADMIN_PER_PAGE).optional(),
  q: textOf(255).optional().describe('Part of the principal, or an email address'),
  order: z
    .enum(ADMIN_PRINCIPAL_ORDERS)
    .optional()
    .describe('principal by default. stored: most stored bytes first. today: most bytes charged today first'),
  token: tokenText,
})
export const adminPrincipalList = z.object({
  principals: z.array(principalEntry),
  nextCursor: z.string().nullable(),
})
export type AdminPrincipalList = z.infer<typeof adminPrincipalList>

export const adminPrincipalParams = z.object({
  principal: textOf(255, 1)
    .meta({ examples: ['user:973dfe463ec85785'] })
    .describe('user:{id}, wallet:{chainId}:{address}, an IP address, or the email address of a user'),
})

export const adminUpload = z.object({
  id: z.string(),
  principal: principalField,
  instance: z.string().describe('The process that receives it'),
  bytes: bytesField.describe('Reserved; 0 for a file that the caller has already'),
  day: dayField.describe('The day that it is charged to'),
  leaseUntil: timeField.describe('When its reservation ends without a sign of life from the process'),
})
export const adminUploadList = z.object({ uploads: z.array(adminUpload) })
export type AdminUploadList = z.infer<typeof adminUploadList>

export const adminPrincipal = principalEntry.extend({
  days: z.array(day).describe(`What was charged in the last ${ADMIN_TREND_DAYS} days, oldest first`),
  uploads: z.array(adminUpload).describe('In flight'),
  tokens: z.array(tokenEntry),
})
export type AdminPrincipal = z.infer<typeof adminPrincipal>

const limitMb = z.int().min(0).max(MAXIMUM_LIMIT_MB).nullable().optional()
export const adminLimitsRequest = z
  .strictObject({
    dailyMb: limitMb.describe('Daily quota in MB of 1,048,576 bytes; null for that of the tier'),
    storedMb: limitMb.describe(
      'Most that may be stored at a time, in MB of 1,048,576 bytes; null for that of the tier',
    ),
  })
  .meta({ minProperties: 1 })
export type AdminLimitsRequest = z.infer<typeof adminLimitsRequest>
export const adminLimits = limits.extend({ principal: principalField })
export type AdminLimits = z.infer<typeof adminLimits>

export const adminFilesQuery = z.object({
  cursor: cursorText.optional(),
  limit: pageLimit(MAX_ADMIN_PER_PAGE).optional(),
  q: textOf(255).optional().describe('Part of the name, cid, owner or principal'),
  principal: textOf(255).optional().describe('Only files of this caller'),
  token: tokenText,
})
export const adminFileEntry = fileEntry.extend({ principal: principalField, owner: ownerField, cid: cidField })
export const adminFileList = z.object({ files: z.array(adminFileEntry), nextCursor: z.string().nullable() })
export type AdminFileList = z.infer<typeof adminFileList>

export const adminJobs = z.object({
  leases: z
    .array(
      z.object({
        name: z.string(),
        holder: z.string().describe('The process that has it'),
        until: timeField,
        fence: z.int().describe('How often it went to another holder'),
        isHeld: z.boolean().describe('False for one that has run out'),
      }),
    )
    .describe('Work that one process does for all'),
  instances: z.array(z.string()).describe('Running processes'),
  provers: z.array(
    z.object({
      name: z.string(),
      isConfigured: z.boolean(),
      copies: z.record(z.string(), z.int()).describe('Copies by state'),
    }),
  ),
  deals: z.record(z.string(), z.int()).describe('Deals of live files, by status'),
  waitingFiles: z.int().describe('Small files that wait for an aggregate'),
  removals: z.object({
    waiting: z.int().describe('Stored bytes that nobody needs, to be removed when their time has come'),
    orphans: z.int().describe('Of them, bytes that no record ever named'),
  }),
  scrub: z
    .object({ startedAt: timeField, finishedAt: timeField.nullable(), blobs: z.int(), bytes: bytesField })
    .nullable()
    .describe('The walk through the stored bytes; null before the first'),
  findings: z
    .array(
      z.object({
        object: z.string(),
        kind: z.string().describe('wrong: put into quarantine; missing; inline: in the database'),
        noticedAt: timeField,
      }),
    )
    .describe('Damaged objects, oldest first, at most 1000'),
  findingsCount: z.int(),
})
export type AdminJobs = z.infer<typeof adminJobs>
