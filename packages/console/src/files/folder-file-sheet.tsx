import type { ListedEntry } from '@lade/core/wire'
import { useSignal } from '@preact/signals'
import { lookup } from 'mrmime'
import { useEffect } from 'preact/hooks'
import { bytesOf } from '../app/amounts.ts'
import { messageOf } from '../app/api.ts'
import { route } from '../app/route.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { CopyField } from '../parts/copy-field.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Icon } from '../parts/icon.tsx'
import { Notice } from '../parts/notice.tsx'
import { texts } from '../texts/texts.ts'
import { shareFile } from './file-actions.ts'
import { LINK_SECONDS } from './file-preview.tsx'
import { linkToFolder } from './folder-links.ts'
import { addressIn, folderPlaceOf } from './folder-place.ts'
import { canBeShown, MediaPreview } from './media-preview.tsx'

export interface FolderFileSheetProps {
  readonly cid: string
  /** The names that lead to the folder that the file is in. */
  readonly names: readonly string[]
  readonly file: string
  /** Where the folder is retrieved; undefined until it is known. */
  readonly folderUrl: string | undefined
  readonly isPrivate: boolean
  /** Undefined until the list has come to it. */
  readonly entry: ListedEntry | undefined
}

/** A file in a folder: its preview, its link and its id. What is private is shown by a share link of the folder that soon ends. */
export function FolderFileSheet({ cid, names, file, folderUrl, isPrivate, entry }: FolderFileSheetProps) {
  const url = useSignal<string | undefined>(undefined)
  const contentType = useSignal<string | undefined>(undefined)
  const problem = useSignal<string | undefined>(undefined)
  const { app, drop, files: words, folder } = texts.value
  useEffect(() => {
    if (folderUrl === undefined) return
    let isLeft = false
    const load = async () => {
      const readableUrl = isPrivate ? (await shareFile(cid, LINK_SECONDS)).url : folderUrl
      const address = addressIn(readableUrl, [...names, file])
      const type = await contentTypeOf(file, address)
      if (isLeft) return
      url.value = address
      contentType.value = type
    }
    load().catch((error: unknown) => {
      if (!isLeft) problem.value = messageOf(error)
    })
    return () => {
      isLeft = true
    }
  }, [folderUrl, isPrivate])
  const address = url.value
  const type = contentType.value
  return (
    <Dialog kind="sheet" title={file} onClose={() => leave(cid, names, file)}>
      {problem.value !== undefined && (
        <Notice kind="bad">
          <p>{problem.value}</p>
        </Notice>
      )}
      {address === undefined && problem.value === undefined && <p class="loading">{app.loading}</p>}
      {address !== undefined && (
        <>
          {type !== undefined && canBeShown(type, address) ? (
            <MediaPreview url={address} contentType={type} name={file} />
          ) : (
            <p class="preview preview-none">{folder.noPreview}</p>
          )}
          <div class="sheet-actions">
            {!isPrivate && <CopyButton text={address} what={drop.link} label={words.copyLink} kind="primary" />}
            <a class="button button-plain" href={address} target="_blank" rel="noopener">
              <Icon name="open" />
              <span>{drop.open}</span>
            </a>
          </div>
        </>
      )}
      {entry !== undefined && (
        <>
          <dl class="sheet-facts">
            {entry.size !== null && (
              <div>
                <dt>{words.size}</dt>
                <dd>{bytesOf(entry.size)}</dd>
              </div>
            )}
            {type !== undefined && (
              <div>
                <dt>{words.type}</dt>
                <dd>{type}</dd>
              </div>
            )}
          </dl>
          <dl class="ids">
            <CopyField label={drop.idNames.cid} value={entry.cid} />
          </dl>
        </>
      )}
    </Dialog>
  )
}

/**
 * The type that the service sends a file with: by its name, as the service has it too; or else the service is asked, which looks at the bytes. A page may ask its
 * own origin alone.
 */
async function contentTypeOf(name: string, url: string): Promise<string | undefined> {
  const byName = name.includes('.') ? lookup(name) : undefined
  if (byName !== undefined || new URL(url).origin !== location.origin) return byName
  const response = await fetch(url, { method: 'HEAD' })
  return response.ok ? (response.headers.get('content-type') ?? undefined) : undefined
}

/** Back to the folder, unless somebody has gone elsewhere meanwhile. */
function leave(cid: string, names: readonly string[], file: string): void {
  const place = folderPlaceOf(route.value.rest)
  const isHere = place?.cid === cid && place.names.join('/') === names.join('/') && place.file === file
  if (route.value.page === 'files' && isHere) location.hash = linkToFolder(cid, names)
}
