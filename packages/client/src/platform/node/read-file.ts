import { read } from 'node:fs'
import { LadeError } from '@lade/core/errors'
import type { ReadFile } from '../../hashing/slice.ts'

/** Reads at a place of an open file, in any thread of the process. */
export const readFile: ReadFile = async (fd, offsetBytes, into) => {
  for (let filledBytes = 0; filledBytes < into.length; ) {
    const readBytes = await readOnce(fd, into.subarray(filledBytes), offsetBytes + filledBytes)
    if (readBytes === 0)
      throw new LadeError('source_changed', { reason: 'The file became shorter during the upload. Upload it again.' })
    filledBytes += readBytes
  }
}

function readOnce(fd: number, into: Uint8Array, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    read(fd, into, 0, into.length, position, (error, readBytes) =>
      error === null ? resolve(readBytes) : reject(error),
    )
  })
}
