import type { FolderProgress } from '../folder-options.ts'
import { ProgressReports } from '../put/progress-reports.ts'

const PHASES = ['listing', 'hashing', 'sending', 'done'] as const

/** Counts how far the put of a folder has come, and reports it. */
export class FolderMeter {
  readonly #reports: ProgressReports<FolderProgress['phase'], FolderProgress>
  #files = 0
  #sizeBytes = 0
  #hashedBytes = 0
  #toSend = { files: 0, bytes: 0 }
  #sent = { files: 0, bytes: 0 }
  /** Of what is being sent, by what it is sent as: the most that ever went out. */
  readonly #underWay = new Map<object, number>()
  #shownSentBytes = 0

  /** @param onError - what `report` throws, since nobody else could catch it. */
  constructor(report: ((progress: FolderProgress) => void) | undefined, onError: (error: unknown) => void) {
    this.#reports = new ProgressReports(PHASES, (phase) => this.#progress(phase), report, onError)
  }

  get sent(): FolderProgress['sent'] {
    return this.#sent
  }

  enter(phase: FolderProgress['phase']): void {
    this.#reports.enter(phase)
  }

  listed(sizeBytes: number): void {
    this.#files += 1
    this.#sizeBytes += sizeBytes
    this.#reports.tell()
  }

  hashed(sizeBytes: number): void {
    this.#hashedBytes += sizeBytes
    this.#reports.tell()
  }

  /** More is missing than was known. */
  missing(files: number, bytes: number): void {
    this.#toSend = { files: this.#toSend.files + files, bytes: this.#toSend.bytes + bytes }
    this.#reports.tell()
  }

  /** Something is on its way: so many bytes of it have gone out. */
  sending(what: object, bytes: number): void {
    this.#underWay.set(what, Math.max(bytes, this.#underWay.get(what) ?? 0))
    this.#reports.tell()
  }

  /** Files have arrived that were on their way as `what`. */
  arrived(what: object, files: number, bytes: number): void {
    this.#underWay.delete(what)
    this.#sent = { files: this.#sent.files + files, bytes: this.#sent.bytes + bytes }
    this.#reports.tell()
  }

  #progress(phase: FolderProgress['phase']): FolderProgress {
    let bytes = this.#sent.bytes
    for (const underWay of this.#underWay.values()) bytes += underWay
    this.#shownSentBytes = Math.max(this.#shownSentBytes, Math.min(bytes, this.#toSend.bytes))
    return {
      phase,
      files: this.#files,
      sizeBytes: this.#sizeBytes,
      hashedBytes: this.#hashedBytes,
      toSend: this.#toSend,
      sent: { files: this.#sent.files, bytes: this.#shownSentBytes },
    }
  }
}
