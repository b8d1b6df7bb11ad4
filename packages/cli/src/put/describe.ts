import type { PutFolderResult } from '@lade/client'
import { LadeError } from '@lade/core/errors'
import type { UploadResult } from '@lade/core/wire'
import { endingOf } from '../exit-code.ts'
import { countOf, formatBytes } from '../output/amounts.ts'
import { printable } from '../output/printable.ts'
import type { Style } from '../output/style.ts'
import { formatFacts } from '../output/table.ts'
import { formatTime } from '../output/times.ts'
import { problemOf } from '../problem.ts'
import type { LeftOut } from './collect-files.ts'
import type { Outcome } from './put-files.ts'

/** The lines for one file that was put by itself. */
export function describeResult(shown: string, result: UploadResult, wasThere: boolean, style: Style): string[] {
  const { cid, size, retrievalUrl, term, expiresAt, dealId, sponsored, visibility } = result
  const remark = wasThere ? ' (already stored; nothing was sent)' : ''
  return [
    `${style.bold(shown === '-' ? 'standard input' : printable(shown))}${remark}`,
    ...formatFacts(
      [
        ['cid', cid],
        ['url', retrievalUrl],
        ['access', describeAccess(visibility)],
        ['size', size < 1024 ? formatBytes(size) : `${formatBytes(size)} (${size.toLocaleString('en-US')} bytes)`],
        ['term', `${term}, until ${formatTime(expiresAt)}${sponsored ? '; sponsored' : ''}`],
        ['deal', dealId],
      ],
      style,
    ),
  ]
}

/** The lines for one folder that was put by itself. */
export function describeFolder(shown: string, result: PutFolderResult, style: Style): string[] {
  const { cid, term, expiresAt, dealId, sponsored, visibility, files, sentFiles, sentBytes, foundFiles } = result
  const sent = sentFiles === 0 ? 'nothing' : `${countOf(sentFiles, 'file')}, ${formatBytes(sentBytes)}`
  const found = foundFiles === 0 ? '' : `; ${countOf(foundFiles, 'file')} already stored`
  return [
    style.bold(printable(shown)),
    ...formatFacts(
      [
        ['cid', cid],
        ['url', folderUrl(result)],
        ['access', describeAccess(visibility)],
        ['files', `${countOf(files, 'file')}, ${formatBytes(bytesOf(result))}`],
        ['sent', `${sent}${found}`],
        ['term', `${term}, until ${formatTime(expiresAt)}${sponsored ? '; sponsored' : ''}`],
        ['deal', dealId],
      ],
      style,
    ),
  ]
}

/** True for what was put as one folder. */
export function isFolder(result: UploadResult | PutFolderResult): result is PutFolderResult {
  return 'entries' in result
}

/** Where a folder opens as a page: relative links in it need the slash. */
export function folderUrl({ retrievalUrl }: Pick<UploadResult, 'retrievalUrl'>): string {
  return retrievalUrl.endsWith('/') ? retrievalUrl : `${retrievalUrl}/`
}

/** The sizes of all files of a folder. */
export function bytesOf({ bytes, entries }: Pick<PutFolderResult, 'bytes' | 'entries'>): number {
  return bytes ?? entries.reduce((sum, entry) => sum + (entry.kind === 'file' ? entry.sizeBytes : 0), 0)
}

function describeAccess(visibility: UploadResult['visibility']): string {
  return visibility === 'private' ? 'private: your tokens and share links' : 'public: anyone with the URL'
}

/** The line for one of several files: the id first, for programs that take lines apart. */
export function describeBriefly(shown: string, result: UploadResult | PutFolderResult): string {
  const { cid, size, visibility } = result
  const [sizeBytes, name] = isFolder(result) ? [bytesOf(result), `${shown.replace(/\/+$/, '')}/`] : [size, shown]
  return `${printable(cid)}  ${formatBytes(sizeBytes).padStart(9)}  ${visibility.padEnd(7)}  ${printable(name)}`
}

/** The object for one file, for programs. */
export function outcomeForPrograms(outcome: Outcome): Record<string, unknown> {
  const file = outcome.item.shown
  if ('result' in outcome) {
    const { result, wasThere } = outcome
    if (!isFolder(result)) return { file, wasThere, ...result }
    const { entries: _, ...rest } = result
    return { file, wasThere, ...rest, bytes: bytesOf(result), retrievalUrl: folderUrl(result) }
  }
  const { error } = outcome
  return { file, ...(LadeError.is(error) ? problemOf(error) : { error: 'failed', detail: sentenceFor(error) }) }
}

/** Why a file failed, in one sentence; rethrows what nobody foresaw. */
export function sentenceFor(error: unknown): string {
  const sentence = endingOf(error)?.sentence
  if (sentence === undefined) throw error
  return sentence
}

/** What became of a whole folder. */
export function describeSum(sum: {
  readonly staged: readonly (UploadResult | PutFolderResult)[]
  readonly failedCount: number
  readonly notTried: number
}): string {
  const { staged, failedCount, notTried } = sum
  const sizeBytes = staged.reduce((bytes, result) => bytes + (isFolder(result) ? bytesOf(result) : result.size), 0)
  const folders = staged.filter(isFolder).length
  const files = staged.length - folders
  const counts = [
    ...(folders === 0 ? [] : [countOf(folders, 'folder')]),
    ...(files === 0 && folders > 0 ? [] : [countOf(files, 'file')]),
  ]
  const parts = [`${counts.join(' and ')} uploaded, ${formatBytes(sizeBytes)}`]
  if (failedCount > 0) parts.push(`${failedCount} failed`)
  if (notTried > 0) parts.push(`${notTried} skipped, because they would fail for the same reason`)
  return `${parts.join('; ')}.`
}

const REASONS: Readonly<Record<LeftOut['because'], (count: number) => string>> = {
  hidden: (count) => `${count} hidden (--hidden includes them)`,
  link: (count) => countOf(count, 'symbolic link'),
  special: (count) => `${count} not regular files`,
}

/** What was left out, by reason; undefined when nothing was. @example 'Skipped: 2 hidden (--hidden includes them), 1 symbolic link.' */
export function describeLeftOut(leftOut: readonly LeftOut[]): string | undefined {
  const counts = Object.entries(REASONS).flatMap(([because, phrase]) => {
    const count = leftOut.filter((one) => one.because === because).length
    return count === 0 ? [] : [phrase(count)]
  })
  return counts.length === 0 ? undefined : `Skipped: ${counts.join(', ')}.`
}
