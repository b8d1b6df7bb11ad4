import type { BlobStore } from '../blobs/blob-store.ts'

/** What is written beside the objects. */
export interface InstallationDocument {
  /** The same as in the records that the objects belong to. */
  readonly id: string
  /** How far those records had come when this was written. */
  readonly progress: number
}

/** The document is there and cannot be understood. */
export class UnreadableDocument extends Error {}

/**
 * @returns undefined when nothing was ever written.
 * @throws {UnreadableDocument}
 * @throws {LadeError} `storage_failed`.
 */
export async function readDocument({
  installation,
}: Pick<BlobStore, 'installation'>): Promise<InstallationDocument | undefined> {
  const text = await installation.read()
  if (text === undefined) return undefined
  const { id, progress } = parsed(text)
  if (typeof id !== 'string' || id === '' || !Number.isSafeInteger(progress)) {
    throw new UnreadableDocument('installation.json has no id and progress')
  }
  return { id, progress: progress as number }
}

/** @returns false when `ifAbsent` was asked for and there is one. */
export function writeDocument(
  { installation }: Pick<BlobStore, 'installation'>,
  { id, progress }: InstallationDocument,
  options: { readonly ifAbsent?: boolean } = {},
): Promise<boolean> {
  return installation.write(`${JSON.stringify({ id, progress })}\n`, options)
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch (error) {
    if (error instanceof SyntaxError) throw new UnreadableDocument('installation.json is not JSON', { cause: error })
    throw error
  }
}
