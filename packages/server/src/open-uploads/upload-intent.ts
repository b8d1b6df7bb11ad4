import { type ContentId, parseContentId } from '@lade/core/content'
import type { ImportProfileName } from '@lade/core/dag'
import { sha256Hex } from '@lade/node/hashing/sha256'
import type { Visibility } from '../records/record-store.ts'
import type { UploadHead } from '../uploads/admit-upload.ts'

/** What an upload in several requests is to become, as its creator said it; each field checked for its form. */
export interface UploadIntent {
  /** The id that the bytes must have; without one, theirs is computed. */
  readonly cid?: string | undefined
  readonly contentType: string
  readonly filename: string | null
  readonly visibility?: Visibility | undefined
  readonly termDays?: number | undefined
  /** The sha2-256 that was announced, in hex. */
  readonly sha256?: string | undefined
  readonly claimDigest?: string | undefined
  readonly profile?: ImportProfileName | undefined
}

/** The intent as the records keep it. */
export function intentText(intent: UploadIntent): string {
  return JSON.stringify(intent)
}

/** Reads what `intentText` wrote. */
export function intentFrom(text: string): UploadIntent {
  return JSON.parse(text)
}

/** The head of the upload that an open one becomes. While its id is not known, it has one that no file has. */
export function headOf(
  { cid, ...intent }: UploadIntent,
  { id, sizeBytes }: { readonly id: string; readonly sizeBytes: number | undefined },
): UploadHead {
  return {
    ...intent,
    cid: cid === undefined ? unknownId(id) : parseContentId(cid, sha256Hex),
    sizeBytes,
    visibility: intent.visibility,
    termDays: intent.termDays,
  }
}

/** Its key has characters that no id has. */
function unknownId(id: string): ContentId {
  const key = `opaque:open-upload-${id}`
  return { text: '', form: 'opaque', key, sha256: undefined, verified: false, maxBytes: undefined, cid: undefined }
}
