import { LadeError } from '@lade/core/errors'
import { fileNamed, firstBytes, type ModeratedDeps, type PathToFolder } from './gateway-resource.ts'
import {
  checkRedirectsSize,
  MAX_REDIRECTS_BYTES,
  matchRedirect,
  parseRedirects,
  REDIRECTS_FILE_NAME,
  type RedirectMatch,
  RedirectsFault,
} from './redirects-file.ts'

/**
 * What the `_redirects` file of a site says of a path that the site does not have; undefined where it says nothing, or there is none.
 *
 * Reading and matching is charged like every other work of the request.
 *
 * @param path - to what is missing, from the root of the site.
 * @throws {LadeError} `invalid_redirects` for a file that is malformed or too big; what reading it can.
 */
export async function siteRedirectOf(
  deps: ModeratedDeps,
  { roots, segments }: PathToFolder,
): Promise<RedirectMatch | undefined> {
  const [root] = roots
  if (root === undefined) return undefined
  const file = await fileNamed(deps, REDIRECTS_FILE_NAME, root, { roots: [root], segments: [] })
  if (file === undefined) return undefined
  try {
    checkRedirectsSize(file.sizeBytes)
    const bytes = await firstBytes(file, MAX_REDIRECTS_BYTES)
    return await deps.reader.measure(() => matchRedirect(parseRedirects(bytes), segments))
  } catch (error) {
    if (!(error instanceof RedirectsFault)) throw error
    throw new LadeError(
      'invalid_redirects',
      { reason: `could not parse _redirects: ${error.message}.` },
      { cause: error },
    )
  }
}
