import { LadeError } from '@lade/core/errors'
import { sha256Hex } from '@lade/node/hashing/sha256'

/** Enough that no accident keeps a row whole; it is no defence against whoever can write to the records. */
const SEAL_DIGITS = 16

/** The bytes that a row leads to, as their object has them: a piece root and a size are the bytes of one content alone. */
export interface SealedBytes {
  readonly piece_root: Buffer | null
  readonly size_bytes: number
}

/** A row that leads to an object, with what is recorded of that. */
export interface SealedRow extends SealedBytes {
  /** Null for rows of an older version, and where the object has no piece root. */
  readonly seal: string | null
}

/**
 * A short checksum over what a row says: which bytes its name leads to, and how. A bit that flips in the row, or on the way to its
 * object, is found by it, before other bytes are served under the name.
 *
 * @param name - what leads to the object.
 * @param role - how it does.
 * @returns null when the object has no piece root.
 */
export function sealOf(name: string, role: string, { piece_root, size_bytes }: SealedBytes): string | null {
  if (piece_root === null) return null
  return sha256Hex(Buffer.from(`${name}\n${role}\n${piece_root.toString('hex')}\n${size_bytes}`)).slice(0, SEAL_DIGITS)
}

/** False for a row that is damaged, or that leads to other bytes than it did when it was written. */
export function isIntact(name: string, role: string, row: SealedRow): boolean {
  return row.seal === null || row.seal === sealOf(name, role, row)
}

/** How a part is named in its seal: by the whole and its place there. */
export function partName(whole: SealedBytes, position: number): string {
  return `${whole.piece_root?.toString('hex') ?? ''}:${whole.size_bytes}#${position}`
}

/** What is thrown in place of other bytes. */
export function damagedRecords(what: string): LadeError<'storage_failed'> {
  const reason = 'The records of this file are damaged.'
  return new LadeError('storage_failed', { retryAfterSeconds: 60, reason }, { cause: new Error(what) })
}
