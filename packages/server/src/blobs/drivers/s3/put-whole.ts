import { type CheckedBytes, checked, compareEtag } from './checked-bytes.ts'
import type { S3Calls } from './s3-calls.ts'
import { S3Failure, unlessAbsent } from './s3-failure.ts'
import { deleteObject, headObject, putObject, readSmallObject } from './s3-objects.ts'

/**
 * Puts a blob by one request, and looks at what the store then has: its size, and its md5 where the ETag is one.
 *
 * The request is signed with the blob's digest, so that the store refuses bytes that do not have it. What is under the key already is of a
 * request for the same blob whose answer was lost, and stays if it is read back as the same bytes.
 *
 * @param options.isOwnKey - true when nobody but this upload ever uses the key, so that bytes that are wrong are removed from it.
 */
export async function putWhole(
  calls: S3Calls,
  key: string,
  content: CheckedBytes,
  options: { readonly isOwnKey: boolean },
): Promise<void> {
  try {
    const outcome = await putObject(calls, key, content, { ifAbsent: true })
    const isThere = await isStored(calls, key, content)
    if (isThere && (outcome === 'stored' || (await isReadBack(calls, key, content)))) return
    if (outcome === 'exists') {
      await putObject(calls, key, content, { ifAbsent: false })
      if (await isStored(calls, key, content)) return
    }
    throw new S3Failure('PutObject', { kind: 'permanent', code: 'OtherBytesStored' })
  } catch (error) {
    const isWrong = error instanceof S3Failure && error.code === 'OtherBytesStored'
    // The caller needs the first error.
    if (isWrong && options.isOwnKey) await deleteObject(calls, key).catch(() => {})
    throw error
  }
}

async function isStored(calls: S3Calls, key: string, { bytes, md5 }: CheckedBytes): Promise<boolean> {
  const stored = await headObject(calls, key)
  return stored?.sizeBytes === bytes.length && compareEtag(stored.etag, md5) !== 'different'
}

/** Asked of an object of the size of these bytes. */
async function isReadBack(calls: S3Calls, key: string, { sha256 }: CheckedBytes): Promise<boolean> {
  const bytes = await unlessAbsent(() => readSmallObject(calls, key))
  return bytes !== undefined && checked(bytes).sha256 === sha256
}
