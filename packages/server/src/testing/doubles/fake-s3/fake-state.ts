import { createHash } from 'node:crypto'
import { headerOf, S3Refusal, type S3Request } from './s3-request.ts'

/** An object as it is stored. */
export interface FakeObject {
  readonly bytes: Buffer
  /** Without its quotes. */
  readonly etag: string
  readonly modifiedAt: Date
  /** `x-amz-checksum-sha256` of the object, where it was sent or asked for. */
  readonly checksum?: string | undefined
  /** Headers `x-amz-meta-*`. */
  readonly metadata?: Readonly<Record<string, string>>
}

/** A multipart upload that is neither complete nor aborted. */
export interface FakeUpload {
  readonly id: string
  readonly key: string
  readonly startedAt: Date
  /** True when its parts have to bring their checksums. */
  readonly wantsChecksums: boolean
  readonly metadata: Readonly<Record<string, string>>
  readonly parts: Map<number, FakeObject>
}

/** What the one bucket holds, and which rules it keeps. */
export interface FakeState {
  readonly bucket: string
  readonly objects: Map<string, FakeObject>
  readonly uploads: Map<string, FakeUpload>
  readonly rules: FakeRules
}

/** Where stores differ. */
export interface FakeRules {
  /** What every part but the last has at least. S3 wants 5 MiB. @default 0 */
  readonly minPartBytes: number
  /** `no`: the condition is answered with 501. `ignored`: it is not looked at. @default 'yes' */
  readonly conditionalPuts: 'yes' | 'no' | 'ignored'
  /** `no`: x-amz-checksum-* is answered with 501. `ignored`: it is not looked at, as by Ceph 16. @default 'yes' */
  readonly checksums: 'yes' | 'no' | 'ignored'
  /** `opaque`: they look like an md5 and are none, as with keys of a key service, or in directory buckets. @default 'md5' */
  readonly etags: 'md5' | 'opaque'
  /** `empty`: CompleteMultipartUpload does not say its ETag, as Ceph 16 does not. @default 'stated' */
  readonly etagOfComplete: 'stated' | 'empty'
}

export const DEFAULT_RULES: FakeRules = {
  minPartBytes: 0,
  conditionalPuts: 'yes',
  checksums: 'yes',
  etags: 'md5',
  etagOfComplete: 'stated',
}

export function digestOf(algorithm: 'md5' | 'sha256', bytes: Uint8Array, encoding: 'hex' | 'base64'): string {
  return createHash(algorithm).update(bytes).digest(encoding)
}

/** An object of `bytes`, with the ETag that such a store gives it. */
export function objectOf(bytes: Buffer, { etags }: FakeRules, checksum?: string): FakeObject {
  const etag = etags === 'md5' ? digestOf('md5', bytes, 'hex') : digestOf('sha256', bytes, 'hex').slice(0, 32)
  return { bytes, etag, modifiedAt: new Date(), checksum }
}

/**
 * Holds a body against every digest that came with it.
 *
 * @throws {S3Refusal} `XAmzContentSHA256Mismatch`, `BadDigest`, `InvalidDigest`.
 */
export function requireIntact(request: S3Request, rules: FakeRules): void {
  const { body } = request
  const payloadHash = headerOf(request, 'x-amz-content-sha256')
  const isHashed = payloadHash !== undefined && payloadHash !== 'UNSIGNED-PAYLOAD'
  if (isHashed && payloadHash !== digestOf('sha256', body, 'hex')) {
    throw new S3Refusal(400, 'XAmzContentSHA256Mismatch')
  }
  const md5 = headerOf(request, 'content-md5')
  if (md5 !== undefined && Buffer.from(md5, 'base64').length !== 16) throw new S3Refusal(400, 'InvalidDigest')
  if (md5 !== undefined && md5 !== digestOf('md5', body, 'base64')) throw new S3Refusal(400, 'BadDigest')
  const checksum = headerOf(request, 'x-amz-checksum-sha256')
  if (rules.checksums === 'yes' && checksum !== undefined && checksum !== digestOf('sha256', body, 'base64')) {
    throw new S3Refusal(400, 'BadDigest')
  }
}

/** Refuses what this store says it does not know. @throws {S3Refusal} `NotImplemented`. */
export function requireKnownHeaders({ headers }: S3Request, rules: FakeRules): void {
  const names = Object.keys(headers)
  const hasChecksum = names.some((name) => name.startsWith('x-amz-checksum-') && name !== 'x-amz-checksum-mode')
  if (rules.checksums === 'no' && hasChecksum) throw new S3Refusal(501, 'NotImplemented', 'x-amz-checksum')
  if (rules.conditionalPuts === 'no' && names.includes('if-none-match')) {
    throw new S3Refusal(501, 'NotImplemented', 'If-None-Match')
  }
}
