import type { FolderProgress, PutProgress } from '@lade/client'
import { countOf } from '../output/amounts.ts'
import type { ProgressView } from '../output/progress.ts'

/** How far several puts have come together. */
export class PutCounters {
  readonly #fileCount: number
  readonly #totalBytes: number | undefined
  #doneCount = 0
  /** Of the files that are done. */
  #doneBytes = 0
  readonly #running = new Map<number, PutProgress | FolderProgress>()

  /** @param sizes - of each file; undefined for one whose end is not known. */
  constructor(sizes: readonly (number | undefined)[]) {
    this.#fileCount = sizes.length
    this.#totalBytes = sizes.reduce<number | undefined>(
      (sum, size) => (sum === undefined || size === undefined ? undefined : sum + size),
      0,
    )
  }

  update(at: number, progress: PutProgress | FolderProgress): void {
    this.#running.set(at, progress)
  }

  /** A file has been put, or has failed; either way nothing more of it is to come. */
  end(at: number, sizeBytes: number): void {
    this.#running.delete(at)
    this.#doneCount += 1
    this.#doneBytes += sizeBytes
  }

  view(): ProgressView {
    if (this.#fileCount === 1) return viewOfOne(this.#running.get(0), this.#totalBytes)
    let doneBytes = this.#doneBytes
    for (const progress of this.#running.values()) doneBytes += sentBytesOf(progress)
    const remark = `${this.#doneCount} of ${this.#fileCount} files`
    return { label: 'Putting', doneBytes, totalBytes: this.#totalBytes, remark }
  }
}

function sentBytesOf(progress: PutProgress | FolderProgress): number {
  return 'toSend' in progress ? progress.sent.bytes : progress.sentBytes
}

/** How far the put of a folder has come. */
export function viewOfFolder({ phase, files, sizeBytes, hashedBytes, toSend, sent }: FolderProgress): ProgressView {
  const remark = countOf(files, 'file')
  if (phase === 'listing') return { label: 'Listing', doneBytes: sizeBytes, totalBytes: undefined, remark }
  if (phase === 'hashing') return { label: 'Hashing', doneBytes: hashedBytes, totalBytes: sizeBytes, remark }
  const sentFiles = `${sent.files.toLocaleString('en-US')} of ${countOf(toSend.files, 'file')}`
  return { label: 'Sending', doneBytes: sent.bytes, totalBytes: toSend.bytes, remark: sentFiles }
}

function viewOfOne(progress: PutProgress | FolderProgress | undefined, totalBytes: number | undefined): ProgressView {
  if (progress === undefined) return { label: 'Putting', doneBytes: 0, totalBytes }
  if ('toSend' in progress) return viewOfFolder(progress)
  const { phase, hashedBytes, sentBytes, parts } = progress
  const known = progress.sizeBytes ?? totalBytes
  if (phase === 'hashing' && sentBytes === 0) return { label: 'Hashing', doneBytes: hashedBytes, totalBytes: known }
  const label = phase === 'composing' ? 'Composing' : 'Sending'
  return { label, doneBytes: sentBytes, totalBytes: known, remark: remarkOn(parts) }
}

function remarkOn({ total, sent, found }: PutProgress['parts']): string | undefined {
  const done = sent + found
  if (total === undefined ? done === 0 : total <= 1) return undefined
  const of = total === undefined ? `${done} parts` : `${done} of ${total} parts`
  return found === 0 ? of : `${of}, ${found} found already`
}
