import type { PutProgress } from '../options.ts'
import { ProgressReports } from './progress-reports.ts'

const PHASES = ['hashing', 'sending', 'composing', 'done'] as const

/** Counts how far a put has come, and reports it: numbers and phases only ever go up, whatever is sent again. */
export class ProgressMeter {
  readonly #reports: ProgressReports<PutProgress['phase'], PutProgress>
  #sizeBytes: number | undefined
  #totalParts: number | undefined
  #hashedBytes = 0
  /** By part: the most of it that was ever sent. */
  readonly #sentBytes = new Map<number, number>()
  #sent = 0
  #found = 0

  /** @param onError - what `report` throws, since nobody else could catch it. */
  constructor(report: ((progress: PutProgress) => void) | undefined, onError: (error: unknown) => void) {
    this.#reports = new ProgressReports(PHASES, (phase) => this.#progress(phase), report, onError)
  }

  known(sizeBytes: number, totalParts: number): void {
    this.#sizeBytes = sizeBytes
    this.#totalParts = totalParts
    this.#reports.tell()
  }

  hashed(bytes: number): void {
    this.#hashedBytes += bytes
    this.#reports.tell()
  }

  sending(part: number, sentBytes: number): void {
    this.#raise(part, sentBytes)
    this.#reports.enter('sending')
    this.#reports.tell()
  }

  /** A part is there, because it was sent now or had been before. */
  arrived(part: number, sizeBytes: number, how: 'sent' | 'found'): void {
    this.#raise(part, sizeBytes)
    if (how === 'sent') this.#sent += 1
    else this.#found += 1
    this.#reports.enter('sending')
    // Whoever counts parts would miss one until the next report.
    this.#reports.tellNow()
  }

  composing(): void {
    this.#reports.enter('composing')
  }

  /** The end: all of the file is there. `isFound` when it had been there before. */
  done(sizeBytes: number, isFound: boolean): void {
    if (isFound) {
      this.#sentBytes.clear()
      this.#sentBytes.set(0, sizeBytes)
      this.#found = Math.max(1, this.#totalParts ?? 1) - this.#sent
    }
    this.#sizeBytes = sizeBytes
    this.#hashedBytes = Math.max(this.#hashedBytes, sizeBytes)
    this.#reports.enter('done')
  }

  #raise(part: number, sentBytes: number): void {
    this.#sentBytes.set(part, Math.max(this.#sentBytes.get(part) ?? 0, sentBytes))
  }

  #progress(phase: PutProgress['phase']): PutProgress {
    let sentBytes = 0
    for (const bytes of this.#sentBytes.values()) sentBytes += bytes
    return {
      phase,
      sizeBytes: this.#sizeBytes,
      hashedBytes: this.#hashedBytes,
      sentBytes,
      parts: { total: this.#totalParts, sent: this.#sent, found: this.#found },
    }
  }
}
