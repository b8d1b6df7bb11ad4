import type { RestoreReport } from '@lade/server/restoring'
import { countOf, formatBytes } from '../output/amounts.ts'
import { problemLines } from './problem-lines.ts'

const FAULTS = {
  missing: 'is missing in the backup',
  size: 'has the wrong size in the backup',
  wrong: 'has wrong bytes in the backup',
  unreadable: 'cannot be read from the backup',
} as const satisfies Record<RestoreReport['blobs']['problems'][number]['problem'], string>

const TOKENS = {
  ended: [
    'All tokens and share links have ended: a token that was revoked after the backup would be valid again.',
    'Users sign up again, and you mint tokens again (lade keys mint). To keep tokens instead: lade restore --keep-tokens.',
  ],
  kept: [
    'Tokens and share links stay valid, also tokens that were revoked after the backup.',
    'If one of them was stolen, end all: lade keys rotate.',
  ],
  setting: [
    'LADE_TOKEN_KEY signs tokens: those that were revoked after the backup are valid again. To end all tokens, change it.',
  ],
  none: [
    'The backup has no signing key: all tokens and share links have ended, unless LADE_TOKEN_KEY gives the old key.',
  ],
} as const satisfies Record<RestoreReport['tokens'], readonly string[]>

/** What was restored, for people: what to do next comes last. */
export function describeRestore(report: RestoreReport): string[] {
  const { backup, place, blobs, drift, inlineProblems, tokens } = report
  return [
    `Backup of ${backup.at.replace('T', ' ').replace(/\.\d+Z$/, ' UTC')}: ${countOf(backup.files, 'file')} restored into ${place.database} and ${place.storage}.`,
    `Blobs: ${amountOf(blobs.copied)} copied, ${amountOf(blobs.there)} were there; every byte was read back and hashed.`,
    drift.length === 0
      ? 'Every quota adds up.'
      : `The quotas of ${countOf(drift.length, 'day')} do not add up, and did not in the backup.`,
    ...problemLines(
      `${countOf(blobs.problems.length, 'blob')} could not be restored:`,
      blobs.problems.map((problem) => ({ ...problem, says: FAULTS[problem.problem] })),
    ),
    ...problemLines(
      `${countOf(inlineProblems.length, 'small file')} restored with wrong bytes, as the backup has them:`,
      inlineProblems.map((problem) => ({ ...problem, says: 'has wrong bytes in the backup' })),
    ),
    ...TOKENS[tokens],
    'What was uploaded after the backup is not here, and what was removed after it is here again.',
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
