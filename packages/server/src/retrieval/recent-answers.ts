import type { BlockAnswer } from '@lade/core/dag'

const MAX_BYTES = 32 * 1024 * 1024
/** What an entry takes besides its arrays and its key. */
const ENTRY_BYTES = 500

/** The latest answers about blocks, up to 32 MiB; those that were not asked for the longest go first. */
export class RecentAnswers {
  readonly #answers = new Map<string, { readonly answer: BlockAnswer; readonly sizeBytes: number }>()
  #sizeBytes = 0

  get(key: string): BlockAnswer | undefined {
    const known = this.#answers.get(key)
    if (known === undefined) return undefined
    this.#answers.delete(key)
    this.#answers.set(key, known)
    return known.answer
  }

  add(key: string, answer: BlockAnswer): void {
    if (this.#answers.has(key)) return
    const sizeBytes = ENTRY_BYTES + 2 * key.length + arrayBytes(answer)
    this.#answers.set(key, { answer, sizeBytes })
    this.#sizeBytes += sizeBytes
    for (const [oldest, entry] of this.#answers) {
      if (this.#sizeBytes <= MAX_BYTES) return
      this.#answers.delete(oldest)
      this.#sizeBytes -= entry.sizeBytes
    }
  }
}

function arrayBytes(value: unknown): number {
  if (ArrayBuffer.isView(value)) return value.byteLength
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce((sum: number, each) => sum + arrayBytes(each), 0)
}
