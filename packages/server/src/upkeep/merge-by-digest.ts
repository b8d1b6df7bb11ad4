/** One put of a digest, with its size in the store and in the records; undefined where it is not. */
export interface ComparedBlob {
  readonly sha256: string
  readonly put: string
  readonly storedBytes: number | undefined
  readonly recordedBytes: number | undefined
}

interface Sized {
  readonly sha256: string
  readonly put: string
  readonly sizeBytes: number
}

/**
 * Lays two lists side by side that are both in ascending order of digest. The records have at most one put of each, the store may have
 * several.
 *
 * @example
 * [...mergeByDigest([{ sha256: 'aa', put: '', sizeBytes: 1 }], [{ sha256: 'bb', put: '', sizeBytes: 2 }])]
 * // [{ sha256: 'aa', put: '', storedBytes: 1, recordedBytes: undefined },
 * //  { sha256: 'bb', put: '', storedBytes: undefined, recordedBytes: 2 }]
 */
export function* mergeByDigest(stored: readonly Sized[], recorded: readonly Sized[]): Generator<ComparedBlob> {
  let [at, other] = [0, 0]
  for (;;) {
    const record = recorded[other]
    const next = stored[at]
    if (next === undefined && record === undefined) return
    const isRecordNext = record !== undefined && (next === undefined || record.sha256 <= next.sha256)
    const sha256 = isRecordNext ? record.sha256 : next?.sha256
    const blobs: Sized[] = []
    for (let blob = stored[at]; blob !== undefined && blob.sha256 === sha256; blob = stored[++at]) blobs.push(blob)
    if (isRecordNext) other += 1
    const named = isRecordNext ? record : undefined
    // What is missing comes before what is there instead of it.
    if (named !== undefined && blobs.every(({ put }) => put !== named.put)) {
      yield { sha256: named.sha256, put: named.put, storedBytes: undefined, recordedBytes: named.sizeBytes }
    }
    for (const blob of blobs) {
      const recordedBytes = blob.put === named?.put ? named.sizeBytes : undefined
      yield { sha256: blob.sha256, put: blob.put, storedBytes: blob.sizeBytes, recordedBytes }
    }
  }
}
