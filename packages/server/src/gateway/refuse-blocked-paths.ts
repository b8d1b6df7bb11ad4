import type { CID } from 'multiformats/cid'
import { blockedError } from '../moderation/content-block.ts'
import type { Moderation } from '../moderation/moderation.ts'

/**
 * A denylist may name a path below a directory, whichever way it is come to.
 *
 * @param roots - the root, and what each of the names leads to, as far as there is something.
 * @param segments - the names.
 * @throws {LadeError} `blocked`.
 */
export function refuseBlockedPaths(
  { moderation }: { readonly moderation: Pick<Moderation, 'content'> },
  roots: readonly CID[],
  segments: readonly string[],
): void {
  for (const [depth, { code, multihash }] of roots.entries()) {
    const below = { codecs: [code], path: segments.slice(depth) }
    if (moderation.content.ofMultihash(multihash.bytes, below) !== undefined) throw blockedError()
  }
}
