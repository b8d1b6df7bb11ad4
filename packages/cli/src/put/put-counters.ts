import type { PutProgress } from '@lade/client'
import type { ProgressView } from '../output/progress.ts'

/** How far several puts have come together. */
export class PutCounters {
  readonly #fileCount: number
  readonly #totalBytes: number | undefined
  #doneCount = 0
  /** Of the files that are done. */
  #doneBytes = 0
  readonly #running = new Map<number, PutProgress>()

  /** @param sizes - of each file; undefined for one whose end is not known. */
  constructor(sizes: readonly (number | undefined)[]) {
    this.#fileCount = sizes.length
    this.#totalBytes = sizes.reduce<number | undefined>(
      (sum, size) => (sum === undefined || size === undefined ? undefined : sum + size),
      0,
    )
  }

  update(at: number, progress: PutProgress): void {
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
    for (const { sentBytes } of this.#running.values()) doneBytes += sentBytes
    const remark = `${this.#doneCount} of ${this.#fileCount} files`
    return { label: 'Putting', doneBytes, totalBytes: this.#totalBytes, remark }
  }
}

function viewOfOne(progress: PutProgress | undefined, totalBytes: number | undefined): ProgressView {
  if (progress === undefined) return { label: 'Putting', doneBytes: 0, totalBytes }
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
