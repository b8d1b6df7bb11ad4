import type { ComponentChildren } from 'preact'
import { Empty } from '../parts/empty.tsx'
import type { IconName } from '../parts/icon.tsx'
import { Notice } from '../parts/notice.tsx'
import { VirtualRows } from '../parts/virtual-rows.tsx'
import { adminTexts } from '../texts/admin-texts.ts'
import { texts } from '../texts/texts.ts'
import type { usePages } from './use-pages.ts'

const ROW_HEIGHT = 60

export interface ListTableProps<Entry> {
  readonly label: string
  readonly pages: ReturnType<typeof usePages<Entry>>
  /** Its title, and the class that says how wide it is and where it is left out. */
  readonly columns: readonly { readonly title: string; readonly kind?: string }[]
  readonly keyOf: (entry: Entry) => string
  /** The cells of a row. */
  readonly render: (entry: Entry) => ComponentChildren
  readonly empty: { readonly icon: IconName; readonly title: string; readonly hint: string }
  /** Ends a search; absent where nothing was searched for. */
  readonly onClear?: (() => void) | undefined
}

/** A listing as a table, of which only the rows that are seen are in the page. */
export function ListTable<Entry>(props: ListTableProps<Entry>) {
  const { label, pages, columns, keyOf, render } = props
  const { app } = texts.value
  const { isLoading, problem } = pages
  const entries = pages.entries.value
  return (
    <>
      {problem.value !== undefined && (
        <Notice kind="bad">
          <p>{problem.value}</p>
          <button type="button" class="button button-plain" onClick={pages.reload}>
            {app.again}
          </button>
        </Notice>
      )}
      {entries.length > 0 ? (
        <section class="panel files" aria-label={label} aria-busy={isLoading.value}>
          <table class="file-table admin-table" aria-rowcount={pages.hasMore ? -1 : entries.length + 1}>
            <thead>
              <tr aria-rowindex={1}>
                {columns.map(({ title, kind = '' }) => (
                  <th key={title} scope="col" class={kind}>
                    {title}
                  </th>
                ))}
              </tr>
            </thead>
            <VirtualRows
              rows={entries}
              rowHeight={ROW_HEIGHT}
              keyOf={keyOf}
              onNearEnd={pages.loadMore}
              render={render}
            />
          </table>
        </section>
      ) : isLoading.value ? (
        <p class="loading">{app.loading}</p>
      ) : (
        problem.value === undefined && <Nothing {...props} />
      )}
    </>
  )
}

function Nothing<Entry>({ empty, onClear }: ListTableProps<Entry>) {
  const words = adminTexts.value
  return (
    <section class="panel">
      {onClear === undefined ? (
        <Empty icon={empty.icon} title={empty.title}>
          <p>{empty.hint}</p>
        </Empty>
      ) : (
        <Empty icon="search" title={words.noMatch}>
          <p>{words.noMatchHint}</p>
          <button type="button" class="button button-plain" onClick={onClear}>
            {words.clear}
          </button>
        </Empty>
      )}
    </section>
  )
}
