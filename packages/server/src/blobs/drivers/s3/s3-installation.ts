import type { InstallationText } from '../../blob-store.ts'
import { checked } from './checked-bytes.ts'
import type { S3Calls } from './s3-calls.ts'
import { S3Failure, translated } from './s3-failure.ts'
import type { S3Keys } from './s3-keys.ts'
import { putObject, readSmallObject } from './s3-objects.ts'

/** The text in `<prefix>installation.json`. Where the store knows no conditional puts, `ifAbsent` looks first and then writes. */
export function s3Installation(calls: S3Calls, keys: S3Keys): InstallationText {
  const key = keys.installation

  async function read(): Promise<string | undefined> {
    try {
      return (await readSmallObject(calls, key)).toString('utf8')
    } catch (error) {
      // Only this code says that the bucket is there and the key is not.
      if (error instanceof S3Failure && error.code === 'NoSuchKey') return undefined
      throw error
    }
  }

  return {
    read: () => translated(read),
    write: (text, { ifAbsent = false } = {}) =>
      translated(async () => {
        if (ifAbsent && (await read()) !== undefined) return false
        const put = await putObject(calls, key, checked(Buffer.from(text)), { ifAbsent })
        return put === 'stored'
      }),
  }
}
