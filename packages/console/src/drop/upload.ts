import type { PutProgress, UploadResult } from '@lade/client'
import { computed, signal } from '@preact/signals'

export type UploadState = 'waiting' | 'hashing' | 'sending' | 'composing' | 'done' | 'failed' | 'refused'

/** Why a file is not sent at all. */
export interface Refusal {
  readonly limitBytes: number
}

let lastNumber = 0

/** One file on its way, as the page shows it. */
export class Upload {
  /** Larger than those of all before it. */
  readonly number: number
  readonly id: string
  readonly name: string
  readonly sizeBytes: number
  readonly file: File
  readonly state = signal<UploadState>('waiting')
  readonly hashedBytes = signal(0)
  readonly sentBytes = signal(0)
  /** Parts that the service had already. */
  readonly foundParts = signal(0)
  /** Parts that were begun, a file of one part included, and those of them that have arrived. */
  readonly begunParts = signal(0)
  readonly sentParts = signal(0)
  readonly result = signal<UploadResult | undefined>(undefined)
  /** What the service says against it. */
  readonly problem = signal<string | undefined>(undefined)
  readonly problemCode = signal<string | undefined>(undefined)
  readonly refusal = signal<Refusal | undefined>(undefined)
  readonly isRunning = computed(() => ['hashing', 'sending', 'composing'].includes(this.state.value))
  /** True while bytes of it are on their way. */
  readonly isSending = computed(() => this.isRunning.value && this.begunParts.value > this.sentParts.value)
  readonly hasEnded = computed(() => ['done', 'failed', 'refused'].includes(this.state.value))
  controller = new AbortController()

  constructor(file: File) {
    lastNumber += 1
    this.number = lastNumber
    this.id = `upload-${lastNumber}`
    this.file = file
    this.name = file.name
    this.sizeBytes = file.size
  }

  note({ phase, hashedBytes, sentBytes, parts }: PutProgress): void {
    this.hashedBytes.value = hashedBytes
    this.sentBytes.value = sentBytes
    this.foundParts.value = parts.found
    this.sentParts.value = parts.sent
    if (phase !== 'done') this.state.value = phase
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
    this.state.value = 'waiting'
  }
}
