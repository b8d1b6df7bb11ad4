import { useEffect, useRef } from 'preact/hooks'
import { bytesOf, countOf } from '../app/amounts.ts'
import { linkTo, route } from '../app/route.ts'
import { loadUsage, usage } from '../app/usage-today.ts'
import { ClaimOffer } from '../drop/claim-offer.tsx'
import { loadEarlier } from '../drop/earlier.ts'
import { NeedsSession } from '../parts/needs-session.tsx'
import { Notice } from '../parts/notice.tsx'
import { texts } from '../texts/texts.ts'
import { ChosenBar } from './chosen-bar.tsx'
import { FileFilters } from './file-filters.tsx'
import { problem, reload } from './file-list.ts'
import { FileSheet } from './file-sheet.tsx'
import { FileTable } from './file-table.tsx'
import { folderPlaceOf } from './folder-place.ts'
import { FolderView } from './folder-view.tsx'
import '../styles/files.css'

/** The files of who has signed in, or what is in a folder of them. */
export function FilesPage() {
  const place = folderPlaceOf(route.value.rest)
  const isFirst = useRef(true)
  useEffect(() => {
    isFirst.current = false
  }, [])
  return (
    <NeedsSession>
      {place === undefined ? <Files /> : <FolderView key={place.cid} place={place} isGoneTo={!isFirst.current} />}
    </NeedsSession>
  )
}

function Files() {
  const { rest } = route.value
  const { app, files: words } = texts.value
  useEffect(() => {
    void reload()
    void loadUsage()
    void loadEarlier()
  }, [])
  const stored = usage.value?.stored
  return (
    <>
      <header class="page-head page-head-row">
        <div>
          <h1>{words.title}</h1>
          <p class="lead">{stored === undefined ? ' ' : words.stored(countOf(stored.files), bytesOf(stored.bytes))}</p>
        </div>
        <a class="button button-primary" href={linkTo('drop')}>
          {words.upload}
        </a>
      </header>
      <ClaimOffer onClaimed={reload} />
      <FileFilters />
      {problem.value !== undefined && (
        <Notice kind="bad">
          <p>{problem.value}</p>
          <button type="button" class="button button-plain" onClick={reload}>
            {app.again}
          </button>
        </Notice>
      )}
      <FileTable />
      <ChosenBar />
      {rest !== '' && <FileSheet key={rest} cid={rest} />}
    </>
  )
}
