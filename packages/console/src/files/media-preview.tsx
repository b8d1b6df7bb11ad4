import { isPdfMediaType, isShownMediaType } from '@lade/core/wire/media-type'
import { useSignal } from '@preact/signals'
import { texts } from '../texts/texts.ts'

/** True for a type that the console shows. A PDF is shown from an origin of its own only. */
export function canBeShown(contentType: string, url: string): boolean {
  return isShownMediaType(contentType) || (isPdfMediaType(contentType) && isElsewhere(url))
}

export interface MediaPreviewProps {
  /** Undefined until it is known. */
  readonly url: string | undefined
  /** One that can be shown. */
  readonly contentType: string
  readonly name: string
}

/** What a browser shows of an address: an image as a whole, anything else in a frame where nothing of it runs. */
export function MediaPreview({ url, contentType, name }: MediaPreviewProps) {
  const isUnreadable = useSignal(false)
  const { files: words } = texts.value
  const title = words.preview(name)
  const kind = contentType.slice(0, contentType.indexOf('/'))
  if (isUnreadable.value) return <p class="preview preview-none">{words.noPreview}</p>
  if (kind === 'image') {
    return (
      <img
        class="preview preview-image"
        alt={title}
        src={url}
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
      src={url}
      // The viewers of some browsers do not start in a sandbox.
      sandbox={isPdfMediaType(contentType) ? undefined : ''}
      referrerpolicy="no-referrer"
      loading="lazy"
    />
  )
}

/** True for a file on an origin of its own, where a browser may open a PDF. */
function isElsewhere(url: string): boolean {
  return new URL(url).host !== location.host
}
