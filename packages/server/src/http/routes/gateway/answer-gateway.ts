import { blockedError } from '../../../moderation/content-block.ts'
import { BlockSource, type BlockSourceDeps } from '../../../retrieval/block-source.ts'
import type { Service } from '../../service.ts'
import type { GatewayRequest } from './gateway-request.ts'
import type { GatewayTarget } from './gateway-target.ts'
import { getBlock } from './get-block.ts'
import { getCar } from './get-car.ts'
import { getContent } from './get-content.ts'

/**
 * Answers a request for content by its path, in the form that it asks for.
 *
 * @param only - the upload that blocks are looked for in alone. @default every public file
 * @throws {LadeError} every refusal; the caller answers it.
 */
export async function answerGateway(
  request: Omit<GatewayRequest, 'source'>,
  only: Pick<BlockSourceDeps, 'within' | 'hasMembers'> = {},
): Promise<void> {
  const { records, blobs, now, moderation } = request.service
  const source = new BlockSource({ records, blobs, now, moderation, ...only })
  try {
    await answerFrom({ ...request, source })
  } finally {
    await source.close()
  }
}

/** @throws {LadeError} `blocked` for the root, or for a path below it that a denylist names. */
export function refuseBlockedTarget({ moderation }: Service, { id, cid, segments }: GatewayTarget): void {
  const asked = { codecs: [cid.code], path: segments }
  if (moderation.content.ofId(id) ?? moderation.content.ofMultihash(cid.multihash.bytes, asked)) throw blockedError()
}

function answerFrom(request: GatewayRequest): Promise<void> {
  switch (request.asked.format) {
    case 'raw':
      return getBlock(request)
    case 'car':
      return getCar(request)
    default:
      return getContent(request)
  }
}
