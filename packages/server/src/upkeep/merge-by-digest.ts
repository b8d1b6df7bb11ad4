/** One digest, with its size in the store and in the records; undefined where it is not. */
export interface ComparedBlob {
  readonly sha256: string
  readonly storedBytes: number | undefined
  readonly recordedBytes: number | undefined
}

interface Sized {
  readonly sha256: string
  readonly sizeBytes: number
}

/**
 * Lays two lists side by side that are both in ascending order of digest.
 *
 * @example
 * [...mergeByDigest([{ sha256: 'aa', sizeBytes: 1 }], [{ sha256: 'bb', sizeBytes: 2 }])]
 * // [{ sha256: 'aa', storedBytes: 1, recordedBytes: undefined }, { sha256: 'bb', storedBytes: undefined, recordedBytes: 2 }]
 */
export function* mergeByDigest(stored: readonly Sized[], recorded: readonly Sized[]): Generator<ComparedBlob> {
  let [at, other] = [0, 0]
  for (;;) {
    const blob = stored[at]
    const record = recorded[other]
    if (blob === undefined && record === undefined) return
    const isStored = blob !== undefined && (record === undefined || blob.sha256 <= record.sha256)
    const isRecorded = record !== undefined && (blob === undefined || record.sha256 <= blob.sha256)
    if (isStored) at += 1
    if (isRecorded) other += 1
    yield {
      sha256: (isStored ? blob.sha256 : record?.sha256) ?? '',
      storedBytes: isStored ? blob.sizeBytes : undefined,
      recordedBytes: isRecorded ? record.sizeBytes : undefined,
    }
  }
}
