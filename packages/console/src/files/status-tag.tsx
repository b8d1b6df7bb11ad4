import type { FileEntry } from '@lade/client'
import { texts } from '../texts/texts.ts'

/** Those of files that are not served any more, or not by themselves. */
export const ENDED: readonly FileEntry['status'][] = ['expired', 'removed', 'failed', 'composed']

/** The status of a file, in a word and a colour; of one that is not served, that it is blocked. */
export function StatusTag({ file: { status, blocked } }: { readonly file: Pick<FileEntry, 'status' | 'blocked'> }) {
  const { statuses, isBlocked } = texts.value.files
  if (blocked !== undefined) return <span class="tag status status-failed">{isBlocked}</span>
  return <span class={`tag status status-${status}`}>{statuses[status]}</span>
}
