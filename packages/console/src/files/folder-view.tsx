import type { FileEntry } from '@lade/core/wire'
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { bytesOf, countOf, fromNow, sizeOf } from '../app/amounts.ts'
import { linkTo } from '../app/route.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { Empty } from '../parts/empty.tsx'
import { Icon } from '../parts/icon.tsx'
import { Notice } from '../parts/notice.tsx'
import { SiteLink } from '../parts/site-link.tsx'
import { texts } from '../texts/texts.ts'
import { Breadcrumbs } from './breadcrumbs.tsx'
import { FileSheet } from './file-sheet.tsx'
import { FolderFileSheet } from './folder-file-sheet.tsx'
import { linkToFolder } from './folder-links.ts'
import { addressIn, type FolderPlace } from './folder-place.ts'
import { FolderTable } from './folder-table.tsx'
import { ENDED, StatusTag } from './status-tag.tsx'
import { useFolder } from './use-folder.ts'

export interface FolderViewProps {
  readonly place: FolderPlace
  /** True where somebody has come from another view of the page, so that this one is read from its beginning. */
  readonly isGoneTo: boolean
}

/** What is in a folder, and the way to it. */
export function FolderView({ place: { cid, names, file }, isGoneTo }: FolderViewProps) {
  const folder = useFolder(cid, names)
  const showsDetails = useSignal(false)
  const heading = useRef<HTMLHeadingElement>(null)
  const isFirst = useRef(true)
  const path = names.join('/')
  useEffect(() => {
    if (isGoneTo || !isFirst.current) {
      heading.current?.focus({ preventScroll: true })
      scrollTo(0, 0)
    }
    isFirst.current = false
  }, [path])
  const { app, folder: words } = texts.value
  const root = folder.root.value
  const isLive = root !== undefined && !ENDED.includes(root.status)
  const folderUrl = root?.retrievalUrl ?? (folder.isForeign.value ? `${location.origin}/p/${cid}/` : undefined)
  const rootName = root?.filename ?? cid
  const name = names.at(-1) ?? rootName
  const { problem, isMissing, isRead, isLoading, entries } = folder
  return (
    <>
      <Breadcrumbs cid={cid} rootName={rootName} names={names} />
      <header class="page-head page-head-row">
        <div class="folder-head">
          <h1 ref={heading} tabIndex={-1}>
            {name}
          </h1>
          {root === undefined || isLive ? <Facts root={root} isTop={names.length === 0} /> : <StatusTag file={root} />}
        </div>
        {root !== undefined && (
          <div class="panel-actions">
            {isLive && root.visibility === 'public' && <PublicLinks root={root} names={names} />}
            <button
              type="button"
              class="button button-plain"
              onClick={() => {
                showsDetails.value = true
              }}
            >
              <Icon name="edit" />
              <span>{words.details}</span>
            </button>
          </div>
        )}
      </header>
      {problem.value !== undefined && !isMissing.value && (
        <Notice kind="bad">
          <p>{problem.value}</p>
          <button
            type="button"
            class="button button-plain"
            onClick={() => (isRead.value ? folder.loadMore() : folder.reload())}
          >
            {app.again}
          </button>
        </Notice>
      )}
      {isMissing.value && (
        <section class="panel">
          <Empty icon="search" title={words.notFound}>
            <p>{problem.value}</p>
            {names.length > 0 && (isLive || folder.isForeign.value) ? (
              <a class="button button-plain" href={linkToFolder(cid)}>
                {words.top}
              </a>
            ) : (
              <a class="button button-plain" href={linkTo('files')}>
                {words.back}
              </a>
            )}
          </Empty>
        </section>
      )}
      {!isRead.value && isLoading.value && <p class="loading">{app.loading}</p>}
      {isRead.value && entries.value.length === 0 && (
        <section class="panel">
          <Empty icon="folder" title={words.empty}>
            <p>{words.emptyHint}</p>
          </Empty>
        </section>
      )}
      {entries.value.length > 0 && (
        <FolderTable
          cid={cid}
          names={names}
          name={name}
          entries={entries.value}
          hasMore={folder.hasMore.value}
          isLoading={isLoading.value}
          onNearEnd={folder.loadMore}
        />
      )}
      {file !== undefined && (
        <FolderFileSheet
          key={`${path}/${file}`}
          cid={cid}
          names={names}
          file={file}
          folderUrl={folderUrl}
          isPrivate={root?.visibility === 'private'}
          entry={entries.value.find((one) => one.name === file)}
        />
      )}
      {showsDetails.value && (
        <FileSheet
          cid={cid}
          onClose={() => {
            showsDetails.value = false
            void folder.loadRoot()
          }}
        />
      )}
    </>
  )
}

/** Of the whole folder; below its top only what holds there, too. */
function Facts({ root, isTop }: { readonly root: FileEntry | undefined; readonly isTop: boolean }) {
  const { files, drop, folder: words } = texts.value
  if (root === undefined) return <p class="lead">&nbsp;</p>
  const facts = [
    ...(isTop && root.files !== undefined ? [drop.filesIn(countOf(root.files))] : []),
    ...(isTop ? [bytesOf(sizeOf(root))] : []),
    root.visibility === 'private' ? files.private : files.public,
    words.ends(fromNow(root.expiresAt)),
  ]
  return <p class="lead">{facts.join(' · ')}</p>
}

/** The links that work for everybody: to the folder that is shown, and to the site. */
function PublicLinks({ root, names }: { readonly root: FileEntry; readonly names: readonly string[] }) {
  const { drop, files } = texts.value
  const url = addressIn(root.retrievalUrl, names.length === 0 ? [] : [...names, ''])
  return (
    <>
      <CopyButton text={url} what={drop.link} label={files.copyLink} />
      <a class="button button-plain" href={url} target="_blank" rel="noopener">
        <Icon name="open" />
        <span>{drop.open}</span>
      </a>
      <SiteLink cid={root.cid} />
    </>
  )
}
