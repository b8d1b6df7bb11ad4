import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { type CheckedBytes, compareEtag, etagOfParts, hexToBase64 } from './checked-bytes.ts'
import type { CallOptions, S3Calls } from './s3-calls.ts'
import { isFailure, S3Failure, unlessAbsent } from './s3-failure.ts'
import { hasMd5Etag, headObject, signingDigest } from './s3-objects.ts'

/** Names one multipart upload, for whoever has to end it. */
export interface UploadName {
  readonly key: string
  readonly uploadId: string
}

/** A part that the store has, and has checked. */
export interface StoredPart extends CompletedPart {
  readonly sizeBytes: number
  /** Undefined for a part that was copied within the store. */
  readonly md5: string | undefined
}

/** An upload in parts. Nothing of it can be read before `complete`, and nothing is left of it after `abort`. */
export class MultipartUpload {
  readonly name: UploadName
  /** True when its beginning was asked for more than once: another one may have been begun whose id nobody was told. */
  readonly mayHaveTwin: boolean
  readonly #calls: S3Calls
  /** What was announced at its beginning holds for all of its parts. */
  readonly #hasChecksums: boolean

  private constructor(
    calls: S3Calls,
    name: UploadName,
    { hasChecksums, mayHaveTwin }: { readonly hasChecksums: boolean; readonly mayHaveTwin: boolean },
  ) {
    this.#calls = calls
    this.name = name
    this.#hasChecksums = hasChecksums
    this.mayHaveTwin = mayHaveTwin
  }

  /** @param options.hasChecksums - false for parts that are copied within the store, whose digests nobody here knows. */
  static async create(calls: S3Calls, key: string, options = { hasChecksums: true }): Promise<MultipartUpload> {
    const checksums = options.hasChecksums && calls.habits.checksums
    const input = {
      Bucket: calls.settings.bucket,
      Key: key,
      ...(checksums ? { ChecksumAlgorithm: 'SHA256' as const } : {}),
    }
    let tries = 0
    try {
      const { UploadId } = await calls.run('CreateMultipartUpload', (client, options) => {
        tries += 1
        return client.send(new CreateMultipartUploadCommand(input), options)
      })
      if (UploadId === undefined) {
        throw new S3Failure('CreateMultipartUpload', { kind: 'permanent', code: 'NoUploadId' })
      }
      return new MultipartUpload(
        calls,
        { key, uploadId: UploadId },
        { hasChecksums: checksums, mayHaveTwin: tries > 1 },
      )
    } catch (error) {
      if (!checksums || !isFailure(error, 'unsupported')) throw error
      calls.unlearn('checksums', 'The object store does not support SHA-256 checksums; MD5 is compared.')
      return MultipartUpload.create(calls, key, options)
    }
  }

  /** Sends part `number`, from 1; the same number again replaces it. `part` is read until the promise settles. */
  async send(number: number, part: CheckedBytes, options: CallOptions): Promise<StoredPart> {
    const checksum = this.#hasChecksums ? { ChecksumSHA256: hexToBase64(part.sha256) } : {}
    const etag = await this.#calls.run(
      'UploadPart',
      async (client, send) => {
        const command = new UploadPartCommand({
          ...this.#address,
          PartNumber: number,
          Body: part.bytes,
          ContentMD5: hexToBase64(part.md5),
          ...checksum,
        })
        command.middlewareStack.add(signingDigest(part.sha256), { step: 'build' })
        const answer = await client.send(command, send)
        const verdict = hasMd5Etag(this.#calls, answer) ? compareEtag(answer.ETag, part.md5) : 'unknown'
        if (verdict === 'different' || answer.ETag === undefined) {
          throw new S3Failure('UploadPart', { kind: 'transient', code: 'OtherBytesStored' })
        }
        return answer.ETag
      },
      options,
    )
    return { PartNumber: number, ETag: etag, ...checksum, sizeBytes: part.bytes.length, md5: part.md5 }
  }

  /**
   * Makes the object of `parts` visible, and looks at what came of it: its size, and its ETag where that can be known.
   *
   * A completion may happen and its answer be lost, and is then refused when it is tried again. What is stored decides.
   */
  async complete(parts: readonly StoredPart[], options: CallOptions = {}): Promise<void> {
    const sizeBytes = parts.reduce((sum, part) => sum + part.sizeBytes, 0)
    const md5s = parts.map(({ md5 }) => md5).filter((md5) => md5 !== undefined)
    const expected = md5s.length === parts.length ? etagOfParts(md5s) : undefined
    const named = parts.map(({ PartNumber, ETag, ChecksumSHA256 }) => ({ PartNumber, ETag, ChecksumSHA256 }))
    const input = { ...this.#address, MultipartUpload: { Parts: named } }
    let failure: unknown
    let answered: string | undefined
    try {
      const answer = await this.#calls.run(
        'CompleteMultipartUpload',
        (client, send) => client.send(new CompleteMultipartUploadCommand(input), send),
        { ...options, pool: 'copies' },
      )
      if (hasMd5Etag(this.#calls, answer)) answered = answer.ETag
    } catch (error) {
      if (!isFailure(error, 'transient', 'absent')) throw error
      failure = error
    }
    const stored = await headObject(this.#calls, this.name.key)
    if (failure !== undefined && stored?.sizeBytes !== sizeBytes) throw failure
    const verdicts = [compareEtag(answered, expected), compareEtag(stored?.etag, expected)]
    // Another writer of the same bytes may have cut them otherwise; what the store said of this upload then counts.
    const isOther = verdicts[0] === 'different' || (verdicts[0] === 'unknown' && verdicts[1] === 'different')
    if (stored?.sizeBytes !== sizeBytes || isOther) {
      throw new S3Failure('CompleteMultipartUpload', { kind: 'permanent', code: 'OtherBytesStored' })
    }
    // The object may be another writer's, and the parts of this upload still there.
    if (failure !== undefined) await this.abort()
  }

  abort(): Promise<void> {
    return abortUpload(this.#calls, this.name)
  }

  get #address(): { Bucket: string; Key: string; UploadId: string } {
    return { Bucket: this.#calls.settings.bucket, Key: this.name.key, UploadId: this.name.uploadId }
  }
}

/** Ends an upload and forgets its parts. One that was ended already is no error. */
export async function abortUpload(calls: S3Calls, { key, uploadId }: UploadName): Promise<void> {
  const input = { Bucket: calls.settings.bucket, Key: key, UploadId: uploadId }
  await unlessAbsent(() =>
    calls.run('AbortMultipartUpload', (client, options) =>
      client.send(new AbortMultipartUploadCommand(input), options),
    ),
  )
}
