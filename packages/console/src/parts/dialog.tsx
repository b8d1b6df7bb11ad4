import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { texts } from '../texts/texts.ts'
import { Icon } from './icon.tsx'
import { holdFocus } from './keep-focus.ts'

export interface DialogProps {
  readonly title: string
  /** `sheet` stands at the side of a wide window; both fill a narrow one. */
  readonly kind?: 'box' | 'sheet'
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** A dialog of the browser: it has the focus for itself, Escape closes it, and the focus goes back to where it was. */
export function Dialog({ title, kind = 'box', onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => {
    const giveBack = holdFocus()
    dialog.current?.showModal()
    return giveBack
  }, [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it as well
    <dialog
      ref={dialog}
      class={`dialog dialog-${kind}`}
      aria-labelledby={titleId}
      onClose={onClose}
      onClick={({ target }) => {
        // The ground beside the dialog is the dialog itself to the browser.
        if (target === dialog.current) dialog.current?.close()
      }}
    >
      <div class="dialog-inner">
        <header class="dialog-head">
          <h2 id={titleId}>{title}</h2>
          <button
            type="button"
            class="button button-plain button-icon"
            aria-label={texts.value.app.close}
            onClick={() => dialog.current?.close()}
          >
            <Icon name="close" />
          </button>
        </header>
        <div class="dialog-body">{children}</div>
      </div>
    </dialog>
  )
}
