import type { AuditPage } from '@lade/client'
import { useSignal } from '@preact/signals'
import { fromNow, timeOf } from '../app/amounts.ts'
import { openClient } from '../app/client.ts'
import { adminTexts } from '../texts/admin-texts.ts'
import { ListTable } from './list-table.tsx'
import { SearchField } from './search-field.tsx'
import { usePages } from './use-pages.ts'

const PAGE = 250
type Entry = AuditPage['entries'][number]

/** The audit log, newest first, and its export. */
export function AuditLog() {
  const q = useSignal('')
  const words = adminTexts.value
  const pages = usePages<Entry>(q.value, async (cursor, signal) => {
    const { admin } = await openClient(true)
    return admin.audit({ cursor, limit: PAGE, ...(q.value !== '' && { q: q.value }), signal })
  })
  return (
    <>
      <search class="filters">
        <SearchField
          label={words.searchAudit}
          value={q.value}
          onSearch={(text) => {
            q.value = text
          }}
        />
        <a class="button button-plain" href="/api/admin/audit.jsonl" download="audit.jsonl">
          {words.exportLog}
        </a>
      </search>
      <p class="soft">{words.verifyHint}</p>
      <ListTable
        label={words.tabs.audit}
        pages={pages}
        columns={[
          { title: words.action },
          { title: words.by, kind: 'who wide' },
          { title: words.detail, kind: 'wide' },
          { title: words.when, kind: 'time middle' },
        ]}
        keyOf={({ sequence }) => String(sequence)}
        render={(entry) => <EntryCells entry={entry} />}
        empty={{ icon: 'clock', title: words.noEntries, hint: words.noEntriesHint }}
        onClear={
          q.value === ''
            ? undefined
            : () => {
                q.value = ''
              }
        }
      />
    </>
  )
}

function EntryCells({ entry: { action, subject, actor, detail, at } }: { readonly entry: Entry }) {
  const facts = Object.entries(detail)
    .map(([name, value]) => `${name}: ${Array.isArray(value) ? value.join(', ') : value}`)
    .join('; ')
  return (
    <>
      <td class="file-name" title={subject}>
        <span>{action}</span>
        <small>{subject}</small>
      </td>
      <td class="who wide" title={actor}>
        {actor}
      </td>
      <td class="audit-detail wide" title={facts}>
        {facts}
      </td>
      <td class="file-end middle" title={timeOf(at)}>
        {fromNow(at)}
      </td>
    </>
  )
}
