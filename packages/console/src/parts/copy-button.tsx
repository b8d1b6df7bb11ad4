import { useSignal } from '@preact/signals'
import { texts } from '../texts/texts.ts'
import { Icon } from './icon.tsx'

const SHOWN_MS = 1600

export interface CopyButtonProps {
  readonly text: string
  /** What it is, for screen readers, such as `link`. */
  readonly what: string
  /** Shown beside the icon; the icon stands alone without. */
  readonly label?: string
  readonly kind?: 'primary' | 'plain'
}

/** Copies a text and says that it did. */
export function CopyButton({ text, what, label, kind = 'plain' }: CopyButtonProps) {
  const isCopied = useSignal(false)
  const { copied, copyOf } = texts.value.app
  const copy = async () => {
    if (!(await copyText(text))) return
    isCopied.value = true
    setTimeout(() => {
      isCopied.value = false
    }, SHOWN_MS)
  }
  const isLabelled = label !== undefined
  return (
    <button
      type="button"
      class={`button ${kind === 'primary' ? 'button-primary' : 'button-plain'} ${isLabelled ? '' : 'button-icon'}`}
      onClick={copy}
      aria-label={isLabelled ? undefined : copyOf(what)}
      title={isLabelled ? undefined : copyOf(what)}
    >
      <Icon name={isCopied.value ? 'check' : 'copy'} />
      {isLabelled && <span>{isCopied.value ? copied : label}</span>}
      <span class="hidden" role="status">
        {isCopied.value ? copied : ''}
      </span>
    </button>
  )
}

/** The clipboard is there only in secure contexts; elsewhere the browser copies what is selected. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const field = document.createElement('textarea')
    field.value = text
    field.className = 'hidden'
    document.body.append(field)
    field.select()
    const isDone = document.execCommand('copy')
    field.remove()
    return isDone
  }
}
