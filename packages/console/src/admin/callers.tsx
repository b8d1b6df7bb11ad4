import type { AdminPrincipalList } from '@lade/client'
import { useSignal } from '@preact/signals'
import { bytesOf, countOf, dateOf } from '../app/amounts.ts'
import { openClient } from '../app/client.ts'
import { goTo, linkTo, route } from '../app/route.ts'
import { adminTexts } from '../texts/admin-texts.ts'
import { CallerSheet } from './caller-sheet.tsx'
import { ListTable } from './list-table.tsx'
import { SearchField } from './search-field.tsx'
import { usePages } from './use-pages.ts'

const PAGE = 250
const ORDERS = ['stored', 'today', 'principal'] as const
type Entry = AdminPrincipalList['principals'][number]

/** Who uses the service, and the sheet of one of them. @param asked - the principal in the address; empty for none. */
export function Callers({ asked }: { readonly asked: string }) {
  const q = useSignal('')
  const order = useSignal<(typeof ORDERS)[number]>('stored')
  const words = adminTexts.value
  const pages = usePages<Entry>(`${order.value} ${q.value}`, async (cursor, signal) => {
    const { admin } = await openClient(true)
    const search = q.value === '' ? {} : { q: q.value }
    const page = await admin.principals({ cursor, limit: PAGE, order: order.value, ...search, signal })
    return { entries: page.principals, nextCursor: page.nextCursor }
  })
  return (
    <>
      <search class="filters">
        <SearchField
          label={words.searchCallers}
          value={q.value}
          onSearch={(text) => {
            q.value = text
          }}
        />
        <label class="filter">
          <span class="hidden">{words.order}</span>
          <select
            class="input"
            value={order.value}
            onChange={({ currentTarget: { value } }) => {
              order.value = ORDERS.find((one) => one === value) ?? 'stored'
            }}
          >
            {ORDERS.map((one) => (
              <option key={one} value={one}>
                {words.orders[one]}
              </option>
            ))}
          </select>
        </label>
      </search>
      <ListTable
        label={words.tabs.callers}
        pages={pages}
        columns={[
          { title: words.caller },
          { title: words.stored, kind: 'file-size' },
          { title: words.files, kind: 'file-size middle' },
          { title: words.today, kind: 'file-size middle' },
          { title: words.lastUpload, kind: 'time wide' },
        ]}
        keyOf={({ principal }) => principal}
        render={(caller) => <CallerCells caller={caller} />}
        empty={{ icon: 'sign-in', title: words.noCallers, hint: words.noCallersHint }}
        onClear={
          q.value === ''
            ? undefined
            : () => {
                q.value = ''
              }
        }
      />
      {asked !== '' && <CallerSheet key={asked} caller={asked} onClose={() => leave(asked)} onChanged={pages.reload} />}
    </>
  )
}

/** Back to the list, unless somebody has gone elsewhere meanwhile. */
function leave(caller: string): void {
  if (route.value.rest === `callers/${caller}`) goTo('admin', 'callers')
}

function CallerCells({ caller }: { readonly caller: Entry }) {
  const words = adminTexts.value
  const { principal, email, stored, today, lastUploadDay, blocked } = caller
  return (
    <>
      <td class="file-name">
        <a href={linkTo('admin', `callers/${principal}`)}>
          <span>{email ?? principal}</span>
        </a>
        {(email !== null || blocked !== undefined) && (
          <small>
            {blocked !== undefined && <span class="bad">{words.blocked} · </span>}
            {email !== null && principal}
          </small>
        )}
      </td>
      <td class="file-size">{bytesOf(stored.bytes)}</td>
      <td class="file-size middle">{countOf(stored.files)}</td>
      <td class="file-size middle">{bytesOf(today.bytes)}</td>
      <td class="file-end wide">{lastUploadDay === null ? words.never : dateOf(`${lastUploadDay}T12:00:00Z`)}</td>
    </>
  )
}
