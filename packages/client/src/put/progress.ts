import type { PutProgress } from '../options.ts'

const PHASES = ['hashing', 'sending', 'composing', 'done'] as const
const MIN_INTERVAL_MS = 50

/** Counts how far a put has come, and reports it: numbers and phases only ever go up, whatever is sent again. */
export class ProgressMeter {
  readonly #report: ((progress: PutProgress) => void) | undefined
  readonly #onError: (error: unknown) => void
  #phase: PutProgress['phase'] = 'hashing'
  #sizeBytes: number | undefined
  #totalParts: number | undefined
  #hashedBytes = 0
  /** By part: the most of it that was ever sent. */
  readonly #sentBytes = new Map<number, number>()
  #sent = 0
  #found = 0
  #reportedAt = Number.NEGATIVE_INFINITY

  /** @param onError - what `report` throws, since nobody else could catch it. */
  constructor(report: ((progress: PutProgress) => void) | undefined, onError: (error: unknown) => void) {
    this.#report = report
    this.#onError = onError
  }

  known(sizeBytes: number, totalParts: number): void {
    this.#sizeBytes = sizeBytes
    this.#totalParts = totalParts
    this.#tell()
  }

  hashed(bytes: number): void {
    this.#hashedBytes += bytes
    this.#tell()
  }

  sending(part: number, sentBytes: number): void {
    this.#raise(part, sentBytes)
    this.#enter('sending')
    this.#tell()
  }

  /** A part is there, because it was sent now or had been before. */
  arrived(part: number, sizeBytes: number, how: 'sent' | 'found'): void {
    this.#raise(part, sizeBytes)
    if (how === 'sent') this.#sent += 1
    else this.#found += 1
    this.#enter('sending')
    // Whoever counts parts would miss one until the next report.
    this.#reportedAt = Number.NEGATIVE_INFINITY
    this.#tell()
  }

  composing(): void {
    this.#enter('composing')
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
    this.#enter('done')
  }

  #raise(part: number, sentBytes: number): void {
    this.#sentBytes.set(part, Math.max(this.#sentBytes.get(part) ?? 0, sentBytes))
  }

  #enter(phase: PutProgress['phase']): void {
    if (PHASES.indexOf(phase) <= PHASES.indexOf(this.#phase)) return
    this.#phase = phase
    this.#reportedAt = Number.NEGATIVE_INFINITY
    this.#tell()
  }

  #tell(): void {
    if (this.#report === undefined) return
    const now = performance.now()
    if (now - this.#reportedAt < MIN_INTERVAL_MS) return
    this.#reportedAt = now
    try {
      this.#report(this.#progress())
    } catch (error) {
      this.#onError(error)
    }
  }

  #progress(): PutProgress {
    let sentBytes = 0
    for (const bytes of this.#sentBytes.values()) sentBytes += bytes
    return {
      phase: this.#phase,
      sizeBytes: this.#sizeBytes,
      hashedBytes: this.#hashedBytes,
      sentBytes,
      parts: { total: this.#totalParts, sent: this.#sent, found: this.#found },
    }
  }
}
