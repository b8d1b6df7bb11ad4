import type { ListedEntry } from '@lade/core/wire'
import { lookup } from 'mrmime'
import { bytesOf, countOf } from '../app/amounts.ts'
import { Icon, type IconName } from '../parts/icon.tsx'
import { VirtualRows } from '../parts/virtual-rows.tsx'
import { texts } from '../texts/texts.ts'
import { linkToFolder, linkToFolderFile } from './folder-links.ts'

const ROW_HEIGHT = 52
const ICONS: Readonly<Record<ListedEntry['kind'], IconName>> = { folder: 'folder', file: 'files', symlink: 'link' }

export interface FolderTableProps {
  readonly cid: string
  readonly names: readonly string[]
  /** Of the folder that is shown. */
  readonly name: string
  readonly entries: readonly ListedEntry[]
  readonly hasMore: boolean
  readonly isLoading: boolean
  readonly onNearEnd: () => void
}

/** The entries of a folder, a row each, in the order of the folder. */
export function FolderTable({ cid, names, name, entries, hasMore, isLoading, onNearEnd }: FolderTableProps) {
  const { files, folder: words } = texts.value
  const count = countOf(entries.length)
  return (
    <section class="panel files" aria-label={words.entries(name)} aria-busy={isLoading}>
      <table class="file-table folder-table" aria-rowcount={hasMore ? -1 : entries.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            <th scope="col">{files.name}</th>
            <th scope="col" class="file-size">
              {files.size}
            </th>
            <th scope="col" class="folder-kind">
              {words.kind}
            </th>
          </tr>
        </thead>
        <VirtualRows
          rows={entries}
          rowHeight={ROW_HEIGHT}
          keyOf={(entry) => entry.name}
          onNearEnd={onNearEnd}
          render={(entry) => <EntryCells cid={cid} names={names} entry={entry} />}
        />
      </table>
      <p class="folder-count" role="status">
        {hasMore ? words.listedSoFar(count) : words.listed(count)}
      </p>
    </section>
  )
}

interface EntryCellsProps {
  readonly cid: string
  readonly names: readonly string[]
  readonly entry: ListedEntry
}

function EntryCells({ cid, names, entry: { name, kind, size, target } }: EntryCellsProps) {
  const { folder: words } = texts.value
  const kindName = kind === 'folder' ? words.folder : kind === 'symlink' ? words.link : (lookup(name) ?? words.file)
  const href = kind === 'folder' ? linkToFolder(cid, [...names, name]) : linkToFolderFile(cid, names, name)
  return (
    <>
      <td class="file-name">
        {kind === 'symlink' ? (
          <p class="folder-link">
            <Icon name={ICONS[kind]} />
            <span>{name}</span>
          </p>
        ) : (
          <a href={href}>
            <Icon name={ICONS[kind]} />
            {kind === 'folder' && <span class="hidden">{words.folder}: </span>}
            <span>{name}</span>
          </a>
        )}
        {(size !== null || target !== undefined) && (
          <small>
            {size !== null && <span class="file-size-small">{bytesOf(size)}</span>}
            {target !== undefined && <span class="file-type">{words.leadsTo(target)}</span>}
          </small>
        )}
      </td>
      <td class="file-size">{size === null ? '' : bytesOf(size)}</td>
      <td class="folder-kind">{kindName}</td>
    </>
  )
}
