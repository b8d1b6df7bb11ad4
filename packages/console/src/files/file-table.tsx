import type { FileEntry } from '@lade/client'
import { bytesOf, countOf, fromNow, sizeOf, timeOf } from '../app/amounts.ts'
import { linkTo } from '../app/route.ts'
import { Empty } from '../parts/empty.tsx'
import { Icon } from '../parts/icon.tsx'
import { VirtualRows } from '../parts/virtual-rows.tsx'
import { texts } from '../texts/texts.ts'
import {
  choose,
  chooseAll,
  chosen,
  clearFilter,
  files,
  hasMore,
  isFiltered,
  isLoading,
  loadMore,
  problem,
} from './file-list.ts'
import { linkToFolder } from './folder-links.ts'
import { ENDED, StatusTag } from './status-tag.tsx'

const ROW_HEIGHT = 60

/** All files, a row each, however many there are. */
export function FileTable() {
  const { app, files: words } = texts.value
  const all = files.value
  if (all.length === 0) {
    if (isLoading.value) return <p class="loading">{app.loading}</p>
    return problem.value === undefined ? <NoFiles /> : null
  }
  const isAllChosen = chosen.value.size === all.length
  return (
    <section class="panel files" aria-label={words.title} aria-busy={isLoading.value}>
      <table class="file-table" aria-rowcount={hasMore.value ? -1 : all.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            <th scope="col" class="file-choice">
              <input
                type="checkbox"
                aria-label={words.chooseAll}
                checked={isAllChosen}
                indeterminate={!isAllChosen && chosen.value.size > 0}
                onChange={({ currentTarget: { checked } }) => chooseAll(checked)}
              />
            </th>
            <th scope="col">{words.name}</th>
            <th scope="col" class="file-size">
              {words.size}
            </th>
            <th scope="col" class="file-status">
              {words.status}
            </th>
            <th scope="col" class="file-end">
              {words.ends}
            </th>
          </tr>
        </thead>
        <VirtualRows
          rows={all}
          rowHeight={ROW_HEIGHT}
          keyOf={({ cid }) => cid}
          onNearEnd={loadMore}
          render={(file) => <FileCells file={file} />}
        />
      </table>
    </section>
  )
}

function FileCells({ file }: { readonly file: FileEntry }) {
  const { files: words } = texts.value
  const name = file.filename ?? file.cid
  const isPrivate = file.visibility === 'private'
  const isFolder = file.kind === 'folder'
  const opens = isFolder && !ENDED.includes(file.status)
  return (
    <>
      <td class="file-choice">
        <input
          type="checkbox"
          aria-label={words.choose(name)}
          checked={chosen.value.has(file.cid)}
          onChange={({ currentTarget: { checked } }) => choose(file.cid, checked)}
        />
      </td>
      <td class="file-name">
        <a href={opens ? linkToFolder(file.cid) : linkTo('files', file.cid)}>
          {isFolder && <Icon name="folder" />}
          {isFolder && <span class="hidden">{texts.value.folder.folder}: </span>}
          {isPrivate && <Icon name="lock" />}
          {isPrivate && <span class="hidden">{words.private}: </span>}
          <span>{name}</span>
        </a>
        <small>
          <span class="file-size-small">{bytesOf(sizeOf(file))} · </span>
          <span class="file-type">
            {file.files === undefined
              ? file.contentType.replace(/;.*/, '')
              : texts.value.drop.filesIn(countOf(file.files))}
          </span>
        </small>
      </td>
      <td class="file-size">{bytesOf(sizeOf(file))}</td>
      <td class="file-status">
        <StatusTag file={file} />
      </td>
      <td class="file-end" title={timeOf(file.expiresAt)}>
        {fromNow(file.expiresAt)}
      </td>
    </>
  )
}

function NoFiles() {
  const { files: words } = texts.value
  return (
    <section class="panel">
      {isFiltered.value ? (
        <Empty icon="search" title={words.none}>
          <p>{words.noneHint}</p>
          <button type="button" class="button button-plain" onClick={clearFilter}>
            {words.clear}
          </button>
        </Empty>
      ) : (
        <Empty icon="files" title={words.empty}>
          <p>{words.emptyHint}</p>
          <a class="button button-primary" href={linkTo('drop')}>
            {words.upload}
          </a>
        </Empty>
      )}
    </section>
  )
}
