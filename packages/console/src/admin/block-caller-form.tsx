import type { AdminPrincipal } from '@lade/client'
import { useSignal } from '@preact/signals'
import { openClient } from '../app/client.ts'
import { adminTexts } from '../texts/admin-texts.ts'
import { BlockForm } from './block-form.tsx'

export interface BlockCallerFormProps {
  readonly caller: AdminPrincipal
  readonly onBlocked: () => Promise<void>
}

/** Blocks a caller, with or without its files. */
export function BlockCallerForm({ caller: { principal }, onBlocked }: BlockCallerFormProps) {
  const removes = useSignal(false)
  const words = adminTexts.value
  const block = async (reason: string): Promise<string> => {
    const { admin } = await openClient(true)
    await admin.blockedCallers.add({ principal, reason, files: removes.value ? 'remove' : 'keep' })
    await onBlocked()
    return words.blocked
  }
  return (
    <BlockForm
      title={words.blockCaller}
      hint={words.blockCallerHint}
      option={words.removeFiles}
      isChosen={removes}
      onBlock={block}
    />
  )
}
