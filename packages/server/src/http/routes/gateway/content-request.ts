import type { FollowedPath } from '../../../gateway/follow-path.ts'
import type { FoundBlock } from '../../../retrieval/block-source.ts'
import type { DagReader } from '../../../retrieval/dag-reader.ts'
import type { GatewayRequest } from './gateway-request.ts'

/** A request whose path was followed to content. */
export interface ContentRequest {
  readonly asked: GatewayRequest
  readonly reader: DagReader
  readonly path: FollowedPath
  /** The block of what is answered: that at the end of the path, or of the page that stands for a path that leads nowhere. */
  readonly block: FoundBlock
}

/** The CID of the block at the end of the path, the root as it was asked for. */
export function contentName({ asked, path, block }: ContentRequest): string {
  return block === path.root ? asked.target.id.text : block.cid.toString()
}

/** The blocks that the answer is made of: when they may be kept, so may it. */
export function blocksOf({ path, block }: ContentRequest): FoundBlock[] {
  return block === path.root ? [block] : [path.root, block]
}
