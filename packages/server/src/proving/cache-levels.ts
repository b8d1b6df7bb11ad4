import type { ContentHashers } from '@lade/node/hashing/content-hasher'
import type { LevelCache } from './level-cache.ts'
import { setLevels } from './piece-levels.ts'
import { SECTION_BYTES } from './section-roots.ts'

/**
 * Hashers that put the levels of what they hash into a cache, so that the first proof about a file need not hash it again. What turns out to be
 * no file leaves a level that nobody asks for.
 *
 * @example
 * const hashers = cacheLevels(hashThreads.hashers, new LevelCache({ dir }))
 */
export function cacheLevels(hashers: ContentHashers, levels: LevelCache): ContentHashers {
  return (...[wanted, sizeBytes, ...rest]) => {
    if (sizeBytes !== undefined && sizeBytes <= SECTION_BYTES) return hashers(wanted, sizeBytes, ...rest)
    const hasher = hashers({ ...wanted, pieceSections: true }, sizeBytes, ...rest)
    return {
      ...hasher,
      async digests() {
        const { pieceSectionRoots, ...digests } = await hasher.digests()
        if (pieceSectionRoots !== undefined) await setLevels(levels, pieceSectionRoots)
        return digests
      },
    }
  }
}
