import type { ObjectHandle } from './content-records.ts'

const PIECE = 'piece:'

/** What an object is called while its sha2-256 is not known: its piece key. */
export function pieceHandle({ pieceRoot, sizeBytes }: { pieceRoot: string; sizeBytes: number }): ObjectHandle {
  return `${PIECE}${pieceRoot}:${sizeBytes}`
}

/** The sha2-256 that an object is called by, if it is. */
export function sha256Of(handle: ObjectHandle): string | null {
  return handle.startsWith(PIECE) ? null : handle
}
