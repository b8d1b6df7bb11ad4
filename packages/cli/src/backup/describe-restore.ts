import type { RestoreReport } from '@lade/server/restoring'
import { countOf, formatBytes } from '../output/amounts.ts'
import { problemLines } from './problem-lines.ts'

const FAULTS = {
  missing: 'is missing from the backup',
  size: 'has the wrong size in the backup',
  wrong: 'has wrong bytes in the backup',
  unreadable: 'cannot be read from the backup',
} as const satisfies Record<RestoreReport['blobs']['problems'][number]['problem'], string>

const TOKENS = {
  ended: [
    'All tokens and share links are now invalid. Otherwise tokens revoked after the backup would be valid again.',
    'Users must sign up again, or you mint new tokens (lade keys mint). To keep the old tokens, use "lade restore --keep-tokens".',
  ],
  kept: [
    'Tokens and share links stay valid, including tokens revoked after the backup.',
    'If a token was stolen, invalidate all tokens with "lade keys rotate".',
  ],
  setting: [
    'LADE_TOKEN_KEY signs tokens, so tokens revoked after the backup are valid again. To invalidate all tokens, change LADE_TOKEN_KEY.',
  ],
  none: ['The backup has no signing key. All tokens and share links are invalid unless LADE_TOKEN_KEY is the old key.'],
} as const satisfies Record<RestoreReport['tokens'], readonly string[]>

/** What was restored, for people: what to do next comes last. */
export function describeRestore(report: RestoreReport): string[] {
  const { backup, place, blobs, drift, inlineProblems, tokens } = report
  return [
    `Backup of ${backup.at.replace('T', ' ').replace(/\.\d+Z$/, ' UTC')}: ${countOf(backup.files, 'file')} restored into ${place.database} and ${place.storage}.`,
    `Blobs: ${amountOf(blobs.copied)} copied, ${amountOf(blobs.there)} already there. Every byte was read back and hashed.`,
    drift.length === 0
      ? 'All quota counters are consistent.'
      : `The quota counters of ${countOf(drift.length, 'day')} are inconsistent, as they were in the backup.`,
    ...problemLines(
      `${countOf(blobs.problems.length, 'blob')} could not be restored:`,
      blobs.problems.map((problem) => ({ ...problem, says: FAULTS[problem.problem] })),
    ),
    ...problemLines(
      `${countOf(inlineProblems.length, 'small file')} restored with the wrong bytes that the backup contains:`,
      inlineProblems.map((problem) => ({ ...problem, says: 'has wrong bytes in the backup' })),
    ),
    ...TOKENS[tokens],
    'Files uploaded after the backup are missing. Files removed after the backup are back.',
    'Start the service with the same settings.',
  ]
}

/** The same for programs. */
export function restoreForPrograms({ backup, isResumed, blobs, inlineProblems, drift, tokens }: RestoreReport) {
  const { at, lade, files, rows } = backup
  return { at, lade, files, resumed: isResumed, records: { rows, problems: inlineProblems, drift }, blobs, tokens }
}

function amountOf({ count, bytes }: { readonly count: number; readonly bytes: number }): string {
  return `${count.toLocaleString('en-US')} (${formatBytes(bytes)})`
}
