/** Some of a piece's bytes. */
export interface ByteRange {
  readonly offsetBytes: number
  readonly lengthBytes: number
}

const SINGLE = /^bytes=(?:(\d{1,15})-(\d{0,15})|-(\d{1,15}))$/i

/**
 * The bytes that a `Range` header asks for (RFC 9110, section 14). A header that is not understood, and one with several
 * ranges, asks for the whole.
 *
 * @example
 * readRange('bytes=-5', 127) // { offsetBytes: 122, lengthBytes: 5 }
 */
export function readRange(header: string | undefined, sizeBytes: number): ByteRange | 'whole' | 'unsatisfiable' {
  const match = SINGLE.exec(header?.trim() ?? '')
  if (match === null) return 'whole'
  const [, first, last, suffix] = match
  if (suffix !== undefined) {
    const lengthBytes = Math.min(Number(suffix), sizeBytes)
    return lengthBytes === 0 ? 'unsatisfiable' : { offsetBytes: sizeBytes - lengthBytes, lengthBytes }
  }
  const offsetBytes = Number(first)
  const end = last === '' ? sizeBytes : Number(last) + 1
  if (end <= offsetBytes && last !== '') return 'whole'
  return offsetBytes >= sizeBytes
    ? 'unsatisfiable'
    : { offsetBytes, lengthBytes: Math.min(end, sizeBytes) - offsetBytes }
}
