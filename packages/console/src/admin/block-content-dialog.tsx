import { useSignal } from '@preact/signals'
import { openClient } from '../app/client.ts'
import { Dialog } from '../parts/dialog.tsx'
import { adminTexts } from '../texts/admin-texts.ts'
import { BlockForm } from './block-form.tsx'

export interface BlockContentDialogProps {
  readonly cid: string
  readonly name: string
  readonly onClose: () => void
  readonly onBlocked: () => Promise<void>
}

/** Blocks content, with or without its bytes. */
export function BlockContentDialog({ cid, name, onClose, onBlocked }: BlockContentDialogProps) {
  const deletes = useSignal(false)
  const words = adminTexts.value
  const block = async (reason: string): Promise<string> => {
    const { admin } = await openClient(true)
    const { files } = await admin.blocks.add(cid, { reason, delete: deletes.value })
    await onBlocked()
    return words.blockedNow(files)
  }
  return (
    <Dialog title={name} onClose={onClose}>
      <BlockForm
        title={words.blockFile}
        hint={words.blockFileHint}
        option={words.deleteBytes}
        isChosen={deletes}
        onBlock={block}
      />
    </Dialog>
  )
}
