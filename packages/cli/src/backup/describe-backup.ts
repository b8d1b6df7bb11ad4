import type { BackupReport, SourceProblem, VerifyScope } from '@lade/server/backing-up'
import { countOf, formatBytes } from '../output/amounts.ts'
import { problemLines } from './problem-lines.ts'

const FAULTS = {
  missing: 'is missing',
  size: 'has the wrong size',
  wrong: 'has wrong bytes',
  unreadable: 'cannot be read',
} as const satisfies Record<SourceProblem['problem'], string>

const READ = {
  all: 'Every file of the service and the backup was read and hashed.',
  copy: 'Every file of the backup and every new file of the service was read and hashed.',
  new: 'Only new files were read and hashed. The others were compared by size.',
} as const satisfies Record<VerifyScope, string>

/** What the description of a backup is made from. */
export interface BackupDescribed {
  readonly dir: string
  readonly verify: VerifyScope
  readonly heal?: boolean
}

/** What was backed up, for people: what needs work comes last. */
export function describeBackup(report: BackupReport, { dir, verify }: BackupDescribed): string[] {
  const { at, rows, files, recordsBytes, blobs, removed, hasKey } = report
  const { copied, there } = blobs
  return [
    `Backup of ${shownTime(at)} in ${dir}: ${countOf(files, 'file')}, ${countOf(rows, 'row')} of records (${formatBytes(recordsBytes)}).`,
    `Blobs: ${amountOf(copied)} copied, ${amountOf(there)} already there. ${READ[verify]}`,
    ...(removed.count > 0
      ? [`Removed from the backup: ${countOf(removed.count, 'unused blob')} (${formatBytes(removed.bytes)}).`]
      : []),
    ...(hasKey ? ['The backup contains the signing key. Keep it secret.'] : []),
    ...(report.wereRecordsDamaged
      ? ['The records of the previous backup were damaged. The new ones replace them.']
      : []),
    ...damage(report, dir),
  ]
}

function damage({ blobs, inlineProblems }: BackupReport, dir: string): string[] {
  const [good, bad, healed] = [
    blobs.problems.filter((problem) => problem.copy === 'good' && !problem.healed),
    blobs.problems.filter((problem) => problem.copy !== 'good'),
    blobs.problems.filter((problem) => problem.healed),
  ]
  const inline = inlineProblems.map((problem) => ({
    ...problem,
    says:
      problem.copy === 'good'
        ? 'has wrong bytes in the database; the backup has the right ones'
        : 'has wrong bytes in the database and in the backup',
  }))
  const at = (problem: SourceProblem): string => `${FAULTS[problem.problem]} in the service`
  return [
    ...problemLines(
      `${countOf(blobs.replaced.length, 'damaged blob')} of the backup replaced with the bytes of the service:`,
      blobs.replaced.map((problem) => ({
        ...problem,
        says: `${FAULTS[problem.problem].replace(/^has/, 'had')} in the backup`,
      })),
    ),
    ...problemLines(
      `${countOf(healed.length, 'damaged blob')} of the service replaced with the bytes of the backup:`,
      healed.map((problem) => ({ ...problem, says: at(problem) })),
    ),
    ...problemLines(
      `${countOf(good.length, 'blob')} damaged in the service. The backup has the right bytes. To restore them, run "lade backup ${dir} --heal":`,
      good.map((problem) => ({ ...problem, says: at(problem) })),
    ),
    ...problemLines(
      `${countOf(bad.length, 'blob')} damaged in the service, and the backup has no good copy. Upload the files again:`,
      bad.map((problem) => ({
        ...problem,
        says: `${at(problem)} and ${FAULTS[problem.copy as SourceProblem['problem']]} in the backup`,
      })),
    ),
    ...problemLines(
      `${countOf(inline.length, 'small file')} damaged. --heal cannot repair small files. Upload the files again:`,
      inline,
    ),
  ]
}

/** The same for programs. */
export function backupForPrograms(report: BackupReport, { verify }: { readonly verify: VerifyScope }) {
  const { at, rows, files, recordsBytes, blobs, inlineProblems, wereRecordsDamaged, removed, hasKey } = report
  return {
    at: at.toISOString(),
    verify,
    files,
    records: { rows, bytes: recordsBytes, problems: inlineProblems },
    blobs: { ...blobs, removed },
    hasKey,
    wereRecordsDamaged,
  }
}

function amountOf({ count, bytes }: { readonly count: number; readonly bytes: number }): string {
  return `${count.toLocaleString('en-US')} (${formatBytes(bytes)})`
}

function shownTime(at: Date): string {
  return at
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, ' UTC')
}
