import { type ContentId, checkContent, type KnownDigests, type Verified } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'

/** The first line of a part of a form, and what follows it in every form. */
const FORM_START = /^--[^\r\n]{1,70}\r\n(?:[^\r\n]+\r\n)*?content-disposition: *(?:form-data|attachment) *; *name=/i
const START_BYTES = 512

/**
 * What a body looks like that is not the file itself but a form around it, as `curl -F` sends it; undefined for any other.
 *
 * @param start - the first bytes of the body, 512 or more if there are so many.
 */
export function wrappingOf(start: Uint8Array): string | undefined {
  const isForm = start[0] === 0x2d && FORM_START.test(Buffer.from(start.subarray(0, START_BYTES)).toString('latin1'))
  return isForm ? 'multipart/form-data' : undefined
}

/** As `checkContent`; a mismatch names the wrapping, which explains it. */
export function checkUnwrapped(id: ContentId, digests: KnownDigests, wrapping: string | undefined): Verified {
  try {
    return checkContent(id, digests)
  } catch (error) {
    if (wrapping === undefined || !LadeError.has(error, 'cid_mismatch')) throw error
    throw new LadeError('cid_mismatch', { ...error.evidence, received: wrapping }, { cause: error })
  }
}
