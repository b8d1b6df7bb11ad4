import { LadeError } from '@lade/core/errors'
import { readSlice } from '../hashing/read-slice.ts'
import type { ReadFile } from '../hashing/slice.ts'
import type { SourceFile } from './source-item.ts'

/**
 * Reads a small file whole.
 *
 * @throws {LadeError} `source_changed` when it is not what was listed, or changes meanwhile.
 */
export async function readWhole(file: SourceFile, readFile: ReadFile): Promise<Uint8Array<ArrayBuffer>> {
  const whole = await file.readAtOnce?.()
  if (whole !== undefined) return whole
  const source = await file.open()
  try {
    if (source.sizeBytes !== file.sizeBytes || source.fingerprint !== file.fingerprint) throw changed(file.path)
    const { sizeBytes } = source
    if (sizeBytes === 0) return new Uint8Array()
    const blocks = readSlice(source.slice(0, sizeBytes), { blockBytes: sizeBytes, readFile })
    const { value } = await blocks.next()
    await source.check()
    if (value === undefined) throw changed(file.path)
    return value
  } finally {
    await source.close()
  }
}

export function changed(path: string, options?: ErrorOptions): LadeError<'source_changed'> {
  return new LadeError(
    'source_changed',
    { reason: `${path} changed during the upload. Upload the folder again.` },
    options,
  )
}
