import { isPageMediaType } from '@lade/core/wire'
import type { ServedFile } from './served-file.ts'

/**
 * Whether readers may be sent to a URL of the storage for this file.
 *
 * Only for a public file, and for a request without credentials: the URL works for everybody who learns it, and cannot be revoked. Not for
 * a file that a browser may show as a page, since the storage sends neither `nosniff` nor a sandbox.
 *
 * @param request.isSaved - true when the answer says `Content-Disposition: attachment`.
 */
export function mayRedirect(
  { file, contentType }: Pick<ServedFile, 'file' | 'contentType'>,
  { hasCredentials, isSaved }: { readonly hasCredentials: boolean; readonly isSaved: boolean },
): boolean {
  if (file.visibility !== 'public' || hasCredentials) return false
  return isSaved || !isPageMediaType(contentType)
}
