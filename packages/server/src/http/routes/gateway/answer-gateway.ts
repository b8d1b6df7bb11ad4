import { blockedError } from '../../../moderation/content-block.ts'
import type { Service } from '../../service.ts'
import type { GatewayRequest } from './gateway-request.ts'
import type { GatewayTarget } from './gateway-target.ts'
import { getBlock } from './get-block.ts'
import { getCar } from './get-car.ts'
import { getContent } from './get-content.ts'

/** Answers a request for content by its path, in the form that it asks for. @throws {LadeError} every refusal; the caller answers it. */
export function answerGateway(asked: GatewayRequest): Promise<void> {
  switch (asked.asked.format) {
    case 'raw':
      return getBlock(asked)
    case 'car':
      return getCar(asked)
    default:
      return getContent(asked)
  }
}

/** @throws {LadeError} `blocked` for the root, or for a path below it that a denylist names. */
export function refuseBlockedTarget({ moderation }: Service, { id, cid, segments }: GatewayTarget): void {
  const asked = { codecs: [cid.code], path: segments }
  if (moderation.content.ofId(id) ?? moderation.content.ofMultihash(cid.multihash.bytes, asked)) throw blockedError()
}
