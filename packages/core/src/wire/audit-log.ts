import * as z from 'zod'
import { cursorText, pageLimit, textOf, timeField } from './fields.ts'
import { FIRST_AUDIT_PREVIOUS } from './limits.ts'

/** The largest page of `GET /api/admin/audit`. */
export const MAX_AUDIT_ENTRIES_PER_PAGE = 1000

const detailValue = z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(z.string())])
export type AuditDetail = Readonly<Record<string, z.infer<typeof detailValue>>>

const auditLine = z.object({
  sequence: z.int().min(1).describe('Counts up from 1 without gaps'),
  at: timeField,
  actor: z.string().describe('Who did it: a principal, operator (on the command line of the service), or service'),
  action: z.string().describe('What was done, such as token.made'),
  subject: z.string().describe('To what it was done'),
  detail: z.record(z.string(), detailValue),
  previous: z.string().describe('SHA-256 of the line before, in hex; 64 zeros in the first line'),
})

export const auditEntry = auditLine.extend({ hash: z.string().describe('SHA-256 of the line of this entry, in hex') })
export type AuditEntry = z.infer<typeof auditEntry>

export const auditQuery = z.object({
  cursor: cursorText.optional(),
  limit: pageLimit(MAX_AUDIT_ENTRIES_PER_PAGE).optional(),
  q: textOf(255).optional().describe('Part of the line'),
  token: z.string().optional().describe('Deprecated form of the Authorization header'),
})

export const auditPage = z.object({ entries: z.array(auditEntry), nextCursor: z.string().nullable() })
export type AuditPage = z.infer<typeof auditPage>

/** Reads one line of the audit log. @throws {Error} for a text that is none. */
export function readAuditLine(line: string): Omit<AuditEntry, 'hash'> {
  return auditLine.parse(JSON.parse(line))
}

/** What is known of an audit log whose lines hold together up to here. */
export interface AuditChain {
  readonly entries: number
  /** SHA-256 of the last line. */
  readonly head: string
}

export const EMPTY_AUDIT_CHAIN: AuditChain = { entries: 0, head: FIRST_AUDIT_PREVIOUS }

/**
 * Adds the next line of an audit log to what was checked before it.
 *
 * @param sha256Hex - hashes the UTF-8 bytes of a text.
 * @returns the chain with this line, or a sentence that says what is wrong with it.
 *
 * @example
 * let chain: AuditChain | string = EMPTY_AUDIT_CHAIN
 * for (const line of lines) if (typeof chain !== 'string') chain = addAuditLine(chain, line, sha256Hex)
 */
export function addAuditLine(
  chain: AuditChain,
  line: string,
  sha256Hex: (text: string) => string,
): AuditChain | string {
  const sequence = chain.entries + 1
  let entry: Omit<AuditEntry, 'hash'>
  try {
    entry = readAuditLine(line)
  } catch {
    return `Line ${sequence} is not an entry of an audit log.`
  }
  if (entry.sequence !== sequence)
    return `Line ${sequence} is entry ${entry.sequence}: entries are missing or repeated.`
  if (entry.previous !== chain.head)
    return `Entry ${sequence} does not follow the entry before it: one of them was changed.`
  return { entries: sequence, head: sha256Hex(line) }
}
