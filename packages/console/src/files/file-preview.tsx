import type { FileEntry } from '@lade/client'
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { messageOf } from '../app/api.ts'
import { texts } from '../texts/texts.ts'
import { shareFile } from './file-actions.ts'
import { canBeShown, MediaPreview } from './media-preview.tsx'

/** How long the link of a preview of something private works. */
export const LINK_SECONDS = 300

/** A file as a browser shows it. A private one is shown by a share link that soon ends: the cookie of the session counts on the API alone. */
export function FilePreview({ file }: { readonly file: FileEntry }) {
  const url = useSignal<string | undefined>(file.visibility === 'public' ? file.retrievalUrl : undefined)
  const problem = useSignal<string | undefined>(undefined)
  const canShow = canBeShown(file.contentType, file.retrievalUrl)
  useEffect(() => {
    if (!canShow || file.visibility === 'public') {
      url.value = file.retrievalUrl
      return
    }
    url.value = undefined
    shareFile(file.cid, LINK_SECONDS).then(
      (link) => {
        url.value = link.url
      },
      (error) => {
        problem.value = messageOf(error)
      },
    )
  }, [file.cid, file.visibility])
  if (!canShow) return <p class="preview preview-none">{texts.value.files.noPreview}</p>
  if (problem.value !== undefined) return <p class="preview preview-none">{problem.value}</p>
  return <MediaPreview url={url.value} contentType={file.contentType} name={file.filename ?? file.cid} />
}
