import type { AdminFileList } from '@lade/client'
import { useSignal } from '@preact/signals'
import { bytesOf, countOf, fromNow, sizeOf, timeOf } from '../app/amounts.ts'
import { openClient } from '../app/client.ts'
import { goTo, linkTo } from '../app/route.ts'
import { Icon } from '../parts/icon.tsx'
import { adminTexts } from '../texts/admin-texts.ts'
import { texts } from '../texts/texts.ts'
import { BlockContentDialog } from './block-content-dialog.tsx'
import { ListTable } from './list-table.tsx'
import { SearchField } from './search-field.tsx'
import { usePages } from './use-pages.ts'

const PAGE = 250
type Entry = AdminFileList['files'][number]

/** The live files of everybody. @param asked - the principal in the address, whose files alone are shown; empty for all. */
export function AllFiles({ asked }: { readonly asked: string }) {
  const q = useSignal('')
  const chosen = useSignal<Entry | undefined>(undefined)
  const words = adminTexts.value
  const pages = usePages<Entry>(`${asked} ${q.value}`, async (cursor, signal) => {
    const { admin } = await openClient(true)
    const search = { ...(q.value !== '' && { q: q.value }), ...(asked !== '' && { principal: asked }) }
    const page = await admin.files({ cursor, limit: PAGE, ...search, signal })
    return { entries: page.files, nextCursor: page.nextCursor }
  })
  const clear = () => {
    q.value = ''
    if (asked !== '') goTo('admin', 'files')
  }
  return (
    <>
      <search class="filters">
        <SearchField
          label={words.searchFiles}
          value={q.value}
          onSearch={(text) => {
            q.value = text
          }}
        />
        {asked !== '' && (
          <button type="button" class="button button-plain" onClick={clear}>
            {asked} ×
          </button>
        )}
      </search>
      <ListTable
        label={words.tabs.files}
        pages={pages}
        columns={[
          { title: words.name },
          { title: words.owner, kind: 'who middle' },
          { title: words.size, kind: 'file-size wide' },
          { title: words.uploaded, kind: 'time wide' },
          { title: words.action, kind: 'row-button' },
        ]}
        keyOf={({ principal, cid }) => `${principal} ${cid}`}
        render={(file) => (
          <FileCells
            file={file}
            onBlock={() => {
              chosen.value = file
            }}
          />
        )}
        empty={{ icon: 'files', title: words.noFiles, hint: words.noFilesHint }}
        onClear={q.value === '' && asked === '' ? undefined : clear}
      />
      {chosen.value !== undefined && (
        <BlockContentDialog
          cid={chosen.value.cid}
          name={nameOf(chosen.value)}
          onClose={() => {
            chosen.value = undefined
          }}
          onBlocked={pages.reload}
        />
      )}
    </>
  )
}

interface FileCellsProps {
  readonly file: Entry
  readonly onBlock: () => void
}

function FileCells({ file, onBlock }: FileCellsProps) {
  const words = adminTexts.value
  const { principal, owner, uploadedAt, retrievalUrl, contentType, blocked, files } = file
  return (
    <>
      <td class="file-name">
        <a href={retrievalUrl} target="_blank" rel="noopener" aria-label={words.open(nameOf(file))}>
          {file.kind === 'folder' && <Icon name="folder" />}
          <span>{nameOf(file)}</span>
        </a>
        <small>{files === undefined ? contentType : texts.value.drop.filesIn(countOf(files))}</small>
      </td>
      <td class="who middle">
        <a href={linkTo('admin', `callers/${principal}`)}>{owner ?? principal}</a>
      </td>
      <td class="file-size wide">{bytesOf(sizeOf(file))}</td>
      <td class="file-end wide" title={timeOf(uploadedAt)}>
        {fromNow(uploadedAt)}
      </td>
      <td class="row-button">
        {blocked === undefined ? (
          <button
            type="button"
            class="button button-danger"
            aria-label={`${words.block}: ${nameOf(file)}`}
            onClick={onBlock}
          >
            {words.block}
          </button>
        ) : (
          <span class="tag tag-bad" title={blocked.reason}>
            {words.blocked}
          </span>
        )}
      </td>
    </>
  )
}

function nameOf({ filename, cid }: Entry): string {
  return filename ?? cid
}
