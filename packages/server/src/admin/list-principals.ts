import {
  ADMIN_TREND_DAYS,
  type AdminPrincipal,
  type AdminPrincipalEntry,
  type AdminPrincipalList,
  type AdminUploadList,
  MAX_ADMIN_PER_PAGE,
} from '@lade/core/wire'
import { readPage } from '../files/page.ts'
import type { PageCursors } from '../files/page-cursor.ts'
import type { BlockedCallers } from '../moderation/blocked-callers.ts'
import type { Moderation } from '../moderation/moderation.ts'
import { utcDay, utcDayBefore } from '../quotas/utc-day.ts'
import type { ListPrincipalsRequest, PrincipalTotals, RecordStore, RunningUpload } from '../records/record-store.ts'
import { tokenEntryOf } from '../tokens/token-entry.ts'
import { subOf } from './person.ts'
import { readPrincipal } from './read-principal.ts'

const MOST_UPLOADS = 1000

interface Deps {
  readonly records: Pick<RecordStore, 'admin' | 'quotas' | 'tokens'>
  readonly moderation: Pick<Moderation, 'callers' | 'refresh'>
}

/**
 * A page of callers that have uploaded something, have a token, or have limits of their own. Cursors count, so that callers that come or go
 * meanwhile shift the pages.
 *
 * @throws {LadeError} `bad_request` for a limit that is none; `invalid_cursor`, `invalid_email`.
 */
export async function listPrincipals(
  { records, moderation }: Deps,
  asked: {
    readonly cursor?: string | undefined
    readonly limit?: string | undefined
    readonly q?: string | undefined
    readonly order?: ListPrincipalsRequest['order'] | undefined
    readonly cursors: PageCursors
    readonly now: number
  },
): Promise<AdminPrincipalList> {
  const { limit, request, cursors } = readPage(asked, MAX_ADMIN_PER_PAGE)
  const offset = request.beforeSequence ?? 0
  const { q = '', order = 'principal', now } = asked
  const which = q.includes('@') ? { principal: readPrincipal(q) } : { search: q }
  await moderation.refresh()
  const found = await records.admin.principals({ today: utcDay(now), order, offset, limit: request.limit, ...which })
  return {
    principals: found.slice(0, limit).map((totals) => entryOf(totals, moderation.callers)),
    nextCursor: found.length > limit ? cursors.write(offset + limit) : null,
  }
}

/** One caller, also one that nobody knows yet. @throws {LadeError} `bad_request`, `invalid_email`. */
export async function showPrincipal(
  { records, moderation }: Deps,
  { asked, now }: { readonly asked: string; readonly now: number },
): Promise<AdminPrincipal> {
  const principal = readPrincipal(asked)
  const today = utcDay(now)
  const fromDay = utcDayBefore(now, ADMIN_TREND_DAYS - 1)
  const [known] = await records.admin.principals({ today, order: 'principal', principal, offset: 0, limit: 1 })
  const usage = await records.quotas.usage({ principal, fromDay, today, now })
  const uploads = await records.admin.uploads({ principal, limit: MOST_UPLOADS })
  const sub = subOf(principal)
  const tokens = sub === undefined ? [] : await records.tokens.list({ sub })
  await moderation.refresh()
  const entry = known === undefined ? unknownEntry(principal, moderation.callers) : entryOf(known, moderation.callers)
  return {
    ...entry,
    stored: usage.stored,
    days: Array.from({ length: ADMIN_TREND_DAYS }, (_, index) => {
      const date = utcDayBefore(now, ADMIN_TREND_DAYS - 1 - index)
      return usage.days.find((day) => day.date === date) ?? { date, bytes: 0, files: 0 }
    }),
    uploads: uploads.map(uploadOf),
    tokens: tokens.map((token) => tokenEntryOf(token, { isWallet: principal.startsWith('wallet:') })),
  }
}

/** Uploads in flight, of everybody. */
export async function listUploads(records: Pick<RecordStore, 'admin'>): Promise<AdminUploadList> {
  return { uploads: (await records.admin.uploads({ limit: MOST_UPLOADS })).map(uploadOf) }
}

function entryOf(totals: PrincipalTotals, blocked: BlockedCallers): AdminPrincipalEntry {
  return {
    principal: totals.principal,
    email: totals.email === '' ? null : totals.email,
    stored: { bytes: totals.storedBytes, files: totals.storedFiles },
    today: { bytes: totals.todayBytes, files: totals.todayFiles },
    lastUploadDay: totals.lastDay,
    lastSeenAt: totals.seenAt === null ? null : new Date(totals.seenAt).toISOString(),
    limits: { dailyBytes: totals.dailyLimit, storedBytes: totals.storedLimit },
    ...blockOf(totals.principal, blocked),
  }
}

function unknownEntry(principal: string, blocked: BlockedCallers): AdminPrincipalEntry {
  const nothing = { bytes: 0, files: 0 }
  const limits = { dailyBytes: null, storedBytes: null }
  const block = blockOf(principal, blocked)
  return {
    principal,
    email: null,
    stored: nothing,
    today: nothing,
    lastUploadDay: null,
    lastSeenAt: null,
    limits,
    ...block,
  }
}

function blockOf(principal: string, blocked: BlockedCallers): Pick<AdminPrincipalEntry, 'blocked'> {
  const block = blocked.find(principal)
  return block === undefined
    ? {}
    : { blocked: { reason: block.reason, blockedAt: new Date(block.blockedAt).toISOString() } }
}

function uploadOf({ leaseUntil, ...upload }: RunningUpload) {
  return { ...upload, leaseUntil: new Date(leaseUntil).toISOString() }
}
