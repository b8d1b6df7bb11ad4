import { Dialog } from '../parts/dialog.tsx'
import { texts } from '../texts/texts.ts'

export interface ConfirmRemovalProps {
  readonly title: string
  readonly onConfirm: () => void
  readonly onClose: () => void
}

/** Asks before files are removed, which cannot be undone. */
export function ConfirmRemoval({ title, onConfirm, onClose }: ConfirmRemovalProps) {
  const { app, files: words } = texts.value
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{words.removeHint}</p>
      <div class="dialog-actions">
        <button type="button" class="button button-plain" onClick={onClose}>
          {app.cancel}
        </button>
        <button
          type="button"
          class="button button-danger"
          onClick={() => {
            onClose()
            onConfirm()
          }}
        >
          {words.remove}
        </button>
      </div>
    </Dialog>
  )
}
