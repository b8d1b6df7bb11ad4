import { utcDay } from '../quotas/utc-day.ts'
import { auditSubjectOf } from '../records/audit-log-records.ts'
import type { FileRecord, RecordStore } from '../records/record-store.ts'
import type { Person } from './person.ts'

const AT_ONCE = 500
const FIRST_DAY = '0000-01-01'

type Deps = {
  readonly records: Pick<RecordStore, 'tokens' | 'sessions' | 'limits' | 'quotas' | 'files' | 'audit'>
  readonly now: () => number
}

/** Adds to the audit log whose data is exported. @param by - the principal of the operator. */
export async function noteExport({ records, now }: Deps, { principal }: Person, by: string): Promise<void> {
  const subject = auditSubjectOf(principal)
  await records.audit.append({ at: now(), actor: by, action: 'caller.exported', subject })
}

/**
 * Everything that the records have of a caller, one JSON object for each line with its `kind`: `caller`, `token`, `session`, `usage`, `file`,
 * `audit`. Files come newest first, ended ones among them. Secrets are in no line: the records hold none.
 *
 * @throws {LadeError} `storage_failed`.
 */
export async function* exportPersonalData({ records, now }: Deps, person: Person): AsyncGenerator<string> {
  const { principal, sub, email } = person
  const at = now()
  const { dailyBytes, storedBytes } = await records.limits.find({ principal, now: at })
  yield line('caller', { principal, email: email ?? null, dailyBytes, storedBytes })
  if (sub !== undefined) {
    for (const token of await records.tokens.list({ sub })) yield line('token', { ...token })
    for (const session of await records.sessions.list({ sub, now: at })) yield line('session', { ...session })
  }
  const { days } = await records.quotas.usage({ principal, fromDay: FIRST_DAY, today: utcDay(at), now: at })
  for (const day of days) yield line('usage', { ...day })
  let before: number | undefined
  do {
    const request = { principal, now: at, limit: AT_ONCE, ...(before !== undefined && { beforeSequence: before }) }
    const files = await records.files.list(request)
    for (const file of files) yield line('file', shownFile(file))
    before = files.length < AT_ONCE ? undefined : files.at(-1)?.sequence
  } while (before !== undefined)
  yield* auditLines(records, principal)
}

async function* auditLines({ audit }: Deps['records'], principal: string): AsyncGenerator<string> {
  // It has no IP addresses.
  if (principal.startsWith('ip:')) return
  let after = 0
  for (;;) {
    const lines = await audit.lines({ after, limit: AT_ONCE })
    for (const { line: entry } of lines) if (entry.includes(principal)) yield line('audit', JSON.parse(entry))
    const last = lines.at(-1)
    if (last === undefined) return
    after = last.sequence
  }
}

function shownFile({ sequence: _, key: __, object: ___, ...file }: FileRecord): object {
  return file
}

/** Times are in words, like everywhere in the API. */
function line(kind: string, content: object): string {
  const entries = Object.entries(content).map(([name, value]) => [
    name,
    name.endsWith('At') && typeof value === 'number' ? new Date(value).toISOString() : value,
  ])
  return `${JSON.stringify({ kind, ...Object.fromEntries(entries) })}\n`
}
