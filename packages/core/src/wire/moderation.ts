import * as z from 'zod'
import { cidText, cursorText, pageLimit, textOf, timeField } from './fields.ts'

/** The largest page of the lists of blocks and of blocked callers. */
export const MAX_BLOCKS_PER_PAGE = 1000
/** How many files that contain blocked content an answer names. */
export const MAX_CONTAINING_SHOWN = 100

/** One line that says something. */
const REASON_PATTERN = '^[^\\u0000-\\u001f\\u007f]*[^\\s\\u0000-\\u001f\\u007f][^\\u0000-\\u001f\\u007f]*$'

const reasonText = textOf(500, 1)
  .regex(new RegExp(REASON_PATTERN))
  .meta({ pattern: REASON_PATTERN, maxLength: 500, examples: ['Copyright complaint 1234'] })
  .describe('Why, in one line; owners of the content, and blocked callers, are told it')

export const blockRequest = z.strictObject({
  cid: cidText.describe('Any content id of what is to be blocked'),
  reason: reasonText,
  delete: z.boolean().optional().describe('true: end the files and delete their bytes at once; default false'),
})
export type BlockRequest = z.infer<typeof blockRequest>

export const contentBlock = z.object({
  cid: z.string().describe('As the operator wrote it'),
  reason: z.string(),
  blockedAt: timeField,
  blockedBy: z.string().describe('The principal of the operator'),
  deleted: z.boolean().describe('True if the bytes were to be deleted'),
})
export type ContentBlockEntry = z.infer<typeof contentBlock>

export const blockResult = contentBlock.extend({
  files: z.int().describe('Live files that are refused from now on'),
  ended: z.int().describe('Files that were ended'),
  containing: z
    .array(z.string())
    .describe(
      'CIDs of other live files that contain the content as one block among others; they are refused as a whole',
    ),
})
export type BlockResult = z.infer<typeof blockResult>

export const blocksQuery = z.object({
  cursor: cursorText.optional(),
  limit: pageLimit(MAX_BLOCKS_PER_PAGE).optional(),
  token: z.string().optional().describe('Deprecated form of the Authorization header'),
})

export const blockList = z.object({
  blocks: z.array(contentBlock),
  denylists: z
    .array(
      z.object({
        file: z.string(),
        rules: z.int(),
        ignored: z.int().describe('Rules about IPNS names'),
        invalid: z.int().describe('Lines that are not rules'),
        readAt: timeField,
      }),
    )
    .describe('The denylists of LADE_DENYLIST, as the answering process read them last'),
  nextCursor: z.string().nullable(),
})
export type BlockList = z.infer<typeof blockList>

export const blockCallerRequest = z
  .strictObject({
    principal: textOf(200, 1).optional().describe('user:<id>, wallet:<chain id>:<address>, or ip:<address>'),
    email: textOf(254, 1).optional().describe('Email address of a user'),
    address: textOf(50, 1).optional().describe('An IP address, or the 0x address of a wallet'),
    network: textOf(50, 1).optional().describe('A network in CIDR notation, at most a /8, or a /16 of IPv6'),
    reason: reasonText,
    files: z.enum(['keep', 'remove']).describe('What becomes of the files of the caller'),
  })
  .describe('Exactly one of principal, email, address and network')
export type BlockCallerRequest = z.infer<typeof blockCallerRequest>

export const blockedCaller = z.object({
  id: z.int(),
  kind: z.enum(['user', 'wallet', 'network']),
  value: z.string().describe('user:<id>, wallet:<address>, or a network in CIDR notation'),
  given: z.string().describe('As the operator wrote it'),
  reason: z.string(),
  files: z.enum(['keep', 'remove']),
  removing: z.boolean().describe('True while files are still to be removed'),
  blockedAt: timeField,
  blockedBy: z.string().describe('The principal of the operator'),
})
export type BlockedCallerEntry = z.infer<typeof blockedCaller>

export const blockedCallerList = z.object({ callers: z.array(blockedCaller), nextCursor: z.string().nullable() })
export type BlockedCallerList = z.infer<typeof blockedCallerList>

/** What the owner of a file is told of its block. */
export const fileBlock = z.object({
  reason: z.string(),
  blockedAt: timeField.optional().describe('Absent for content that a denylist names'),
})
