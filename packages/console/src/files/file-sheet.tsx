import type { DealEntry, FileEntry } from '@lade/client'
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { bytesOf, countOf, fromNow, sizeOf, timeOf } from '../app/amounts.ts'
import { messageOf } from '../app/api.ts'
import { openClient } from '../app/client.ts'
import { goTo, route } from '../app/route.ts'
import { noteEnded } from '../app/session.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { CopyField } from '../parts/copy-field.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Icon } from '../parts/icon.tsx'
import { Notice } from '../parts/notice.tsx'
import { texts } from '../texts/texts.ts'
import { DealView } from './deal-view.tsx'
import { FileControls } from './file-controls.tsx'
import { files } from './file-list.ts'
import { FilePreview } from './file-preview.tsx'
import { linkToFolder } from './folder-links.ts'
import { ENDED, StatusTag } from './status-tag.tsx'

/** How often a deal is looked at whose copies are on their way to a prover. */
const REFRESH_MS = 10_000

export interface FileSheetProps {
  readonly cid: string
  /** @default goes back to the list */
  readonly onClose?: () => void
}

/** All that there is to know about one file or folder, and to do with it. */
export function FileSheet({ cid, onClose }: FileSheetProps) {
  const file = useSignal<FileEntry | undefined>(files.value.find((one) => one.cid === cid))
  const deal = useSignal<DealEntry | undefined>(undefined)
  const problem = useSignal<string | undefined>(undefined)
  const { app, files: words } = texts.value
  const load = async () => {
    try {
      const client = await openClient(true)
      const entry = await client.files.get(cid)
      file.value = entry
      deal.value = await client.deals.get(entry.dealId)
      problem.value = undefined
    } catch (error) {
      problem.value = messageOf(error)
      noteEnded(error)
    }
  }
  useEffect(() => {
    void load()
  }, [cid])
  const entry = file.value
  const isFolder = entry?.kind === 'folder'
  const isLive = entry !== undefined && !ENDED.includes(entry.status)
  const isUnproved = isLive && entry.visibility === 'public' && deal.value?.provedAt === null
  useEffect(() => {
    if (!isUnproved) return
    const timer = setInterval(() => {
      if (!document.hidden) void load()
    }, REFRESH_MS)
    return () => clearInterval(timer)
  }, [isUnproved])
  return (
    <Dialog kind="sheet" title={entry?.filename ?? entry?.cid ?? cid} onClose={onClose ?? (() => leave(cid))}>
      {problem.value !== undefined && (
        <Notice kind="bad">
          <p>{problem.value}</p>
        </Notice>
      )}
      {entry === undefined && problem.value === undefined && <p class="loading">{app.loading}</p>}
      {entry !== undefined && (
        <>
          {entry.blocked !== undefined && (
            <Notice kind="warning">
              <p>{words.blocked}</p>
              <p>{entry.blocked.reason}</p>
            </Notice>
          )}
          {isLive && !isFolder && entry.blocked === undefined && <FilePreview file={entry} />}
          <div class="sheet-actions">
            {isLive && isFolder && onClose === undefined && (
              <a class="button button-primary" href={linkToFolder(cid)}>
                <Icon name="folder" />
                <span>{texts.value.drop.contents}</span>
              </a>
            )}
            <CopyButton
              text={entry.retrievalUrl}
              what={texts.value.drop.link}
              label={words.copyLink}
              kind={isFolder ? 'plain' : 'primary'}
            />
            <a class="button button-plain" href={entry.retrievalUrl} target="_blank" rel="noopener">
              <Icon name="open" />
              <span>{texts.value.drop.open}</span>
            </a>
          </div>
          <Facts file={entry} />
          {isLive && <FileControls file={entry} deal={deal.value} onChanged={load} />}
          <section class="sheet-part" aria-label={texts.value.drop.ids}>
            <h3>{texts.value.drop.ids}</h3>
            <Ids file={entry} />
          </section>
          {deal.value !== undefined && <DealView deal={deal.value} isPrivate={entry.visibility === 'private'} />}
        </>
      )}
    </Dialog>
  )
}

/** Back to the list, unless somebody has gone elsewhere meanwhile. */
function leave(cid: string): void {
  const { page, rest } = route.value
  if (page === 'files' && rest === cid) goTo('files')
}

function Facts({ file }: { readonly file: FileEntry }) {
  const { files: words } = texts.value
  return (
    <dl class="sheet-facts">
      <div>
        <dt>{words.size}</dt>
        <dd>{bytesOf(sizeOf(file))}</dd>
      </div>
      {file.files === undefined ? (
        <div>
          <dt>{words.type}</dt>
          <dd>{file.contentType}</dd>
        </div>
      ) : (
        <div>
          <dt>{texts.value.folder.folder}</dt>
          <dd>{texts.value.drop.filesIn(countOf(file.files))}</dd>
        </div>
      )}
      <div>
        <dt>{words.uploaded}</dt>
        <dd>{timeOf(file.uploadedAt)}</dd>
      </div>
      <div>
        <dt>{words.ends}</dt>
        <dd>
          {timeOf(file.expiresAt)} <small>({fromNow(file.expiresAt)})</small>
        </dd>
      </div>
      <div>
        <dt>{words.status}</dt>
        <dd>
          <StatusTag file={file} />
        </dd>
      </div>
      <div>
        <dt>{words.visibility}</dt>
        <dd>{file.visibility === 'private' ? words.private : words.public}</dd>
      </div>
    </dl>
  )
}

function Ids({ file: { cid, sha256, pieceCid, dealId, syntheticDealId, kind } }: { readonly file: FileEntry }) {
  const { cid: cidName, sha256: shaName, pieceCid: pieceName, dealId: dealName } = texts.value.drop.idNames
  return (
    <dl class="ids">
      <CopyField label={cidName} value={cid} />
      {kind !== 'folder' && sha256 != null && <CopyField label={shaName} value={sha256} />}
      {pieceCid !== null && <CopyField label={pieceName} value={pieceCid} />}
      <CopyField label={dealName} value={dealId} />
      {syntheticDealId != null && syntheticDealId !== dealId && (
        <CopyField label={texts.value.files.syntheticDeal} value={syntheticDealId} />
      )}
    </dl>
  )
}
