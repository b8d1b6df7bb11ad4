import type { FileEntry } from '@lade/client'
import { texts } from '../texts/texts.ts'

/** The status of a file, in a word and a colour. */
export function StatusTag({ status }: { readonly status: FileEntry['status'] }) {
  return <span class={`tag status status-${status}`}>{texts.value.files.statuses[status]}</span>
}
