import type { FolderProgress, PutProgress, UploadResult } from '@lade/client'
import { computed, signal } from '@preact/signals'
import type { ChosenFolder } from './chosen-folder.ts'
import { fingerprintOf, folderFingerprint, type Known } from './unfinished.ts'

export type UploadState = 'waiting' | 'hashing' | 'sending' | 'composing' | 'done' | 'failed' | 'refused'

/** What is uploaded as one. */
export type UploadSource =
  | { readonly kind: 'file'; readonly file: File }
  | { readonly kind: 'folder'; readonly folder: ChosenFolder }

/** Why something is not sent at all. */
export interface Refusal {
  readonly limitBytes: number
  /** The file of a folder that is too large. */
  readonly path?: string
}

let lastNumber = 0

/** One file or folder on its way, as the page shows it. */
export class Upload implements Known {
  /** Larger than those of all before it. */
  readonly number: number
  readonly id: string
  readonly name: string
  readonly sizeBytes: number
  readonly source: UploadSource
  readonly fingerprint: string
  /** Of a folder: how many files are in it. */
  readonly folder: { readonly files: number } | undefined
  /** Its largest file. */
  readonly largest: { readonly sizeBytes: number; readonly path?: string }
  readonly state = signal<UploadState>('waiting')
  readonly hashedBytes = signal(0)
  readonly sentBytes = signal(0)
  /** Parts that the service had already. */
  readonly foundParts = signal(0)
  /** Parts that were begun, a file of one part included, and those of them that have arrived. */
  readonly begunParts = signal(0)
  readonly sentParts = signal(0)
  /** Files of a folder that are there, and requests of it that wait for the end of a pause. */
  readonly sentFiles = signal(0)
  readonly heldRequests = signal(0)
  readonly result = signal<UploadResult | undefined>(undefined)
  /** What the service says against it. */
  readonly problem = signal<string | undefined>(undefined)
  readonly problemCode = signal<string | undefined>(undefined)
  readonly refusal = signal<Refusal | undefined>(undefined)
  readonly isRunning = computed(() => ['hashing', 'sending', 'composing'].includes(this.state.value))
  /** True while bytes of it are on their way. */
  readonly isSending = computed(() => {
    if (!this.isRunning.value) return false
    // A folder does not say which of its requests were answered.
    if (this.folder !== undefined) return this.begunParts.value > 0 && this.heldRequests.value === 0
    return this.begunParts.value > this.sentParts.value
  })
  /** A file is one, a folder as many as are in it. */
  readonly doneFiles = computed(() => {
    const isDone = this.state.value === 'done'
    if (this.folder === undefined) return isDone ? 1 : 0
    return isDone ? this.folder.files : this.sentFiles.value
  })
  readonly hasEnded = computed(() => ['done', 'failed', 'refused'].includes(this.state.value))
  controller = new AbortController()

  constructor(source: UploadSource) {
    lastNumber += 1
    this.number = lastNumber
    this.id = `upload-${lastNumber}`
    this.source = source
    if (source.kind === 'file') {
      const { file } = source
      this.name = file.name
      this.sizeBytes = file.size
      this.fingerprint = fingerprintOf(file)
      this.folder = undefined
      this.largest = { sizeBytes: file.size }
    } else {
      const { folder } = source
      this.name = folder.name
      this.sizeBytes = folder.sizeBytes
      this.fingerprint = folderFingerprint(folder)
      this.folder = { files: folder.files }
      this.largest = largestOf(folder)
    }
  }

  get files(): number {
    return this.folder?.files ?? 1
  }

  note({ phase, hashedBytes, sentBytes, parts }: PutProgress): void {
    this.hashedBytes.value = hashedBytes
    this.sentBytes.value = sentBytes
    this.foundParts.value = parts.found
    this.sentParts.value = parts.sent
    if (phase !== 'done') this.state.value = phase
  }

  noteFolder({ phase, files, sizeBytes, hashedBytes, toSend, sent }: FolderProgress): void {
    this.hashedBytes.value = hashedBytes
    if (phase === 'sending') {
      this.state.value = 'sending'
      // What the service does not miss is there. Until it has said what it misses, nothing is known to be there.
      if (toSend.files > 0) {
        this.sentBytes.value = Math.max(this.sentBytes.value, sizeBytes - toSend.bytes + sent.bytes)
        this.sentFiles.value = Math.max(this.sentFiles.value, files - toSend.files + sent.files)
      }
    } else if (phase !== 'done') this.state.value = 'hashing'
  }

  done(result: UploadResult): void {
    this.result.value = result
    this.sentBytes.value = this.sizeBytes
    this.hashedBytes.value = this.sizeBytes
    this.state.value = 'done'
  }

  failed(message: string, code: string | undefined): void {
    this.problem.value = message
    this.problemCode.value = code
    this.state.value = 'failed'
  }

  /** Back to the end of the queue. */
  again(): void {
    this.controller = new AbortController()
    this.problem.value = undefined
    this.problemCode.value = undefined
    this.hashedBytes.value = 0
    this.sentBytes.value = 0
    this.begunParts.value = 0
    this.sentParts.value = 0
    this.sentFiles.value = 0
    this.heldRequests.value = 0
    this.state.value = 'waiting'
  }
}

function largestOf({ items }: ChosenFolder): { readonly sizeBytes: number; readonly path?: string } {
  let largest: { readonly sizeBytes: number; readonly path?: string } = { sizeBytes: 0 }
  for (const item of items) {
    if ('file' in item && item.file.size > largest.sizeBytes) largest = { sizeBytes: item.file.size, path: item.path }
  }
  return largest
}
