import type { FileEntry } from '@lade/client'
import { isPdfMediaType, isShownMediaType } from '@lade/core/wire/media-type'
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { messageOf } from '../app/api.ts'
import { texts } from '../texts/texts.ts'
import { shareFile } from './file-actions.ts'

/** How long the link of a preview of a private file works. */
const LINK_SECONDS = 300

/**
 * The file as a browser shows it: an image as a whole, anything else in a frame where nothing of it runs. A private file is shown by a share link that soon ends: the cookie of
 * the session counts on the API alone.
 */
export function FilePreview({ file }: { readonly file: FileEntry }) {
  const url = useSignal<string | undefined>(file.visibility === 'public' ? file.retrievalUrl : undefined)
  const problem = useSignal<string | undefined>(undefined)
  const isUnreadable = useSignal(false)
  const { files: words } = texts.value
  const isPdf = isPdfMediaType(file.contentType) && isElsewhere(file.retrievalUrl)
  const canShow = isShownMediaType(file.contentType) || isPdf
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
  if (!canShow || isUnreadable.value) return <p class="preview preview-none">{words.noPreview}</p>
  if (problem.value !== undefined) return <p class="preview preview-none">{problem.value}</p>
  const kind = file.contentType.slice(0, file.contentType.indexOf('/'))
  const title = words.preview(file.filename ?? file.cid)
  if (kind === 'image') {
    return (
      <img
        class="preview preview-image"
        alt={title}
        src={url.value}
        referrerpolicy="no-referrer"
        onError={() => {
          isUnreadable.value = true
        }}
      />
    )
  }
  return (
    <iframe
      class={`preview preview-${kind}`}
      title={title}
      src={url.value}
      // The viewers of some browsers do not start in a sandbox; a PDF is shown from an origin of its own only.
      sandbox={isPdf ? undefined : ''}
      referrerpolicy="no-referrer"
      loading="lazy"
    />
  )
}

/** True for a file on an origin of its own, where a browser may open a PDF. */
function isElsewhere(url: string): boolean {
  return new URL(url).host !== location.host
}
