import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'
import { LadeError } from '@lade/core/errors'
import type { SigningKey } from '../tokens/signing-key.ts'
import { decodeBase64url } from '../tokens/token-jwt-base64url.ts'

const PURPOSE = 'lade page cursor v1'
const SEQUENCE_BYTES = 8
const TAG_BYTES = 16

/** Writes and reads the places in one caller's listing. */
export interface PageCursors {
  /** @param sequence - of the last file of a page. */
  write(sequence: number): string
  /** @throws {LadeError} `invalid_cursor` for a text that this caller was not given. */
  read(cursor: string): number
}

/**
 * The cursors of one listing of one caller: a sequence number and its HMAC, in base64url. A rotation of the signing key ends them.
 *
 * @param keyOf - answers the signing key, and is asked only when there is a cursor to write or to read.
 * @param listing - tells listings of the same caller apart.
 *
 * @example
 * const cursors = pageCursors(() => key, { listing: 'files', principal: 'user:973dfe463ec85785' })
 * cursors.read(cursors.write(7)) // 7
 */
export function pageCursors(
  keyOf: () => SigningKey,
  {
    listing,
    principal,
  }: {
    readonly listing: 'files' | 'deals' | 'audit' | 'blocks' | 'blocked-callers' | 'admin principals' | 'admin files'
    readonly principal: string
  },
): PageCursors {
  const tagOf = (key: KeyObject, sequence: Uint8Array): Buffer =>
    createHmac('sha256', key).update(`${listing}\n${principal}\n`).update(sequence).digest().subarray(0, TAG_BYTES)
  return {
    write(sequence) {
      const bytes = Buffer.alloc(SEQUENCE_BYTES)
      bytes.writeBigUInt64BE(BigInt(sequence))
      return Buffer.concat([bytes, tagOf(keyOf().derive(PURPOSE), bytes)]).toString('base64url')
    },
    read(cursor) {
      const bytes = Buffer.from(decodeBase64url(cursor) ?? [])
      const sequence = bytes.subarray(0, SEQUENCE_BYTES)
      const tag = bytes.subarray(SEQUENCE_BYTES)
      if (tag.length !== TAG_BYTES || !timingSafeEqual(tag, tagOf(keyOf().derive(PURPOSE), sequence))) {
        throw new LadeError('invalid_cursor', {})
      }
      return Number(sequence.readBigUInt64BE())
    },
  }
}
