import type { FoundBlock } from '../../../retrieval/block-source.ts'
import { publicCaching } from '../../file-headers.ts'
import type { Service } from '../../service.ts'

/** What caches may do with an answer that is made of these blocks: the files that they were found in say until when. */
export async function publicCachingOf(service: Service, blocks: readonly FoundBlock[]): Promise<string> {
  const { records, config, filesNow } = service
  const now = filesNow()
  const { cacheSeconds: maxSeconds } = config.retrieval
  const objects = new Set(blocks.flatMap(({ place }) => (place.kind === 'identity' ? [] : [place.object])))
  if (objects.size === 0) return publicCaching({ maxSeconds, now })
  const ends = await Promise.all([...objects].map((object) => records.files.publicUntil({ object, now })))
  // A file that ended since is not to be kept at all.
  return publicCaching({ maxSeconds, expiresAt: Math.min(...ends.map((end) => end ?? now)), now })
}
