import { bytesText } from '@lade/core/errors'
import type { LfsAnswer, LfsObject } from '@lade/core/wire'
import type { FoundObject } from '../../../lfs/find-objects.ts'
import type { FileEnd } from '../../../records/record-store.ts'
import { signShareLink } from '../../../tokens/share-link.ts'
import type { UploadTier } from '../../../uploads/upload-tier.ts'
import type { Caller } from '../../caller.ts'
import { STATUS } from '../../problem.ts'
import type { Service } from '../../service.ts'

/** How long a link to a private object is good for: long enough to begin every download of a batch. */
const LINK_SECONDS = 6 * 3600

const ENDED: Readonly<Record<FileEnd, string>> = {
  expired: 'has expired',
  removed: 'was removed by its owner',
  composed: 'became part of a composed file',
}

/** What a push is told about an object: nothing to do for one that is stored, else where to send it. */
export function uploadAnswer(
  { oid, size }: LfsObject,
  found: FoundObject | undefined,
  {
    tier,
    visibility,
    urlOf,
  }: {
    readonly tier: Pick<UploadTier, 'fileBytes'>
    readonly visibility: 'public' | 'private'
    readonly urlOf: (oid: string) => string
  },
): LfsAnswer {
  if (found?.outcome === 'malformed') return refused({ oid, size }, 422, found.reason)
  if (found?.outcome === 'found') return { oid, size, visibility: found.file.visibility }
  if (size > tier.fileBytes) {
    const reason = `The object is ${bytesText(size)}; the limit is ${bytesText(tier.fileBytes)}.`
    return refused({ oid, size }, STATUS.too_large, reason)
  }
  return { oid, size, visibility, actions: { upload: { href: urlOf(oid) } } }
}

/** What a fetch is told about an object: where it is, by a link without a token, or why it is not there. */
export function downloadAnswer(
  { oid, size }: LfsObject,
  found: FoundObject | undefined,
  { service, caller }: { readonly service: Service; readonly caller: Caller | undefined },
): LfsAnswer {
  switch (found?.outcome) {
    case 'found': {
      const href = service.retrievalUrl(oid)
      if (found.file.visibility === 'public' || caller === undefined)
        return { oid, size, actions: { download: { href } } }
      const { principal, jti = caller.sessionId } = caller
      const expiresAt = new Date(Math.floor(service.now() / 1000 + LINK_SECONDS) * 1000)
      const fileId = String(found.file.sequence)
      const share = signShareLink({
        key: service.keys.current(),
        cid: `sha256:${oid}`,
        principal,
        fileId,
        expiresAt,
        jti,
      })
      return { oid, size, actions: { download: { href: `${href}?${share}`, expires_at: expiresAt.toISOString() } } }
    }
    case 'malformed':
      return refused({ oid, size }, 422, found.reason)
    case 'ended':
      return refused(
        { oid, size },
        STATUS.gone,
        `The object ${ENDED[found.end]}. Push it again from a clone that has it: git lfs push --all REMOTE`,
      )
    case 'blocked':
      return refused({ oid, size }, STATUS.blocked, 'The operator has blocked this content.')
    default:
      return refused(
        { oid, size },
        STATUS.not_found,
        'The object is not stored here, or it is private and of another account.',
      )
  }
}

function refused({ oid, size }: LfsObject, code: number, message: string): LfsAnswer {
  return { oid, size, error: { code, message } }
}
