import { createHash } from 'node:crypto'

/** Bytes with the digests by which a store checks what reached it. */
export interface CheckedBytes {
  readonly bytes: Uint8Array
  /** In hex. */
  readonly sha256: string
  /** In hex. */
  readonly md5: string
}

export function checked(bytes: Uint8Array): CheckedBytes {
  return {
    bytes,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    md5: createHash('md5').update(bytes).digest('hex'),
  }
}

export function hexToBase64(hex: string): string {
  return Buffer.from(hex, 'hex').toString('base64')
}

/** What an ETag says of the md5 of what it stands for. Stores also have ETags that are no md5, and some give none. */
export type EtagVerdict = 'same' | 'different' | 'unknown'

/** Holds an ETag, quoted or not, against what an honest store would answer: an md5, or an md5 of md5s and their number. */
export function compareEtag(etag: string | undefined, expected: string | undefined): EtagVerdict {
  const plain = etag?.replaceAll('"', '').toLowerCase() ?? ''
  if (expected === undefined || !/^[0-9a-f]{32}(-\d+)?$/.test(plain)) return 'unknown'
  // An md5 says nothing about an md5 of md5s, and one of seven parts nothing about one of eight.
  if (plain.slice(32) !== expected.slice(32)) return 'unknown'
  return plain === expected ? 'same' : 'different'
}

/** The ETag of an object made of parts with these md5s. */
export function etagOfParts(md5s: readonly string[]): string {
  const joined = Buffer.concat(md5s.map((md5) => Buffer.from(md5, 'hex')))
  return `${createHash('md5').update(joined).digest('hex')}-${md5s.length}`
}
