import type { BlockAnswer } from '@lade/core/dag'
import { LRUCache } from 'lru-cache'

const MAX_BYTES = 32 * 1024 * 1024
/** Memory of an entry besides its arrays and its key. */
const ENTRY_BYTES = 500

/** The latest answers about blocks, up to 32 MiB; the least recently used go first. */
export function answerCache(): LRUCache<string, BlockAnswer> {
  return new LRUCache({
    maxSize: MAX_BYTES,
    sizeCalculation: (answer, key) => ENTRY_BYTES + 2 * key.length + arrayBytes(answer),
  })
}

function arrayBytes(value: unknown): number {
  if (ArrayBuffer.isView(value)) return value.byteLength
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce((sum: number, each) => sum + arrayBytes(each), 0)
}
