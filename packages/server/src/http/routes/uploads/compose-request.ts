import type { IncomingMessage } from 'node:http'
import { type ContentId, parseContentId } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import {
  type ComposeRequest,
  HEADER,
  MAX_COMPOSE_BODY_BYTES,
  MAX_PARTS,
  PART_BYTES,
  parseMediaType,
} from '@lade/core/wire'
import { sha256Hex } from '@lade/node/hashing/sha256'
import type { Visibility } from '../../../records/record-store.ts'
import type { ComposeInput } from '../../../uploads/compose-file.ts'
import type { UploadTier } from '../../../uploads/upload-tier.ts'
import { declaredBytes, singleHeader } from '../../framing.ts'
import { plainFileName } from '../../plain-file-name.ts'
import type { Query } from '../../query.ts'
import { cidOf, claimDigestOf, termDaysOf, visibilityOf } from './upload-head.ts'

const DEFAULT_MEDIA_TYPE = 'application/octet-stream'

/** Parts beyond what a tier allows that are looked up all the same, so that it is said which of them are missing. */
const SPARE_PARTS = 100
/** The longest cid has 80 characters. */
const BYTES_PER_PART = 128
/** Enough for everything beside the parts. */
const HEAD_BYTES = 16_384

/** What the head of a composition says. */
export interface ComposeHead {
  readonly cid: ContentId
  readonly visibility: Visibility | undefined
  readonly termDays: number | undefined
  readonly claimDigest: string | undefined
}

/**
 * Reads what the head of a composition says, each field checked for its form.
 *
 * @throws {LadeError} `invalid_cid`, `invalid_visibility`, `invalid_term`.
 */
export function readComposeHead(request: IncomingMessage, query: Query, opaqueIds: 'accept' | 'refuse'): ComposeHead {
  return {
    cid: cidOf(query, opaqueIds),
    visibility: visibilityOf(singleHeader(request, HEADER.visibility)),
    termDays: termDaysOf(singleHeader(request, HEADER.termDays)),
    claimDigest: claimDigestOf(singleHeader(request, HEADER.claimDigest)),
  }
}

/** The most parts that are looked at. All but the last have at least `PART_BYTES`. */
function mostParts(fileBytes: number): number {
  return Math.ceil(fileBytes / PART_BYTES) + SPARE_PARTS
}

/**
 * Refuses the body of a composition without a token by its declared size, before it is read: far more parts than the tier allows take
 * more time to receive and to decode than to refuse.
 *
 * @throws {LadeError} `too_large`.
 */
export function checkDeclaredBody(request: IncomingMessage, tier: Pick<UploadTier, 'name' | 'fileBytes'>): void {
  if (tier.name !== 'sponsored') return
  const limit = Math.min(MAX_COMPOSE_BODY_BYTES, HEAD_BYTES + BYTES_PER_PART * mostParts(tier.fileBytes))
  const size = declaredBytes(request) ?? 0
  if (size > limit) throw new LadeError('too_large', { limit, size })
}

/**
 * Refuses a term that the tier does not have, also for a file that exists already.
 *
 * @throws {LadeError} `invalid_term`.
 */
export function checkTerm({ termDays = 1 }: ComposeHead, { maxTermDays }: Pick<UploadTier, 'maxTermDays'>): void {
  if (termDays <= maxTermDays) return
  throw new LadeError('invalid_term', {
    reason: `X-Term-Days is ${termDays}; this tier allows 1 to ${maxTermDays} days.`,
  })
}

/**
 * Puts the body of a composition to its head. A part that is named more than once is read once, and too many are not read at all.
 *
 * @param fileBytes - the limit of the tier. Far more parts than it allows are refused before any is looked at.
 * @throws {LadeError} `invalid_parts`, `too_large`, `invalid_content_type`, `invalid_filename`.
 */
export function readComposition(
  head: ComposeHead,
  body: ComposeRequest,
  fileBytes: number,
): Pick<ComposeInput, 'head' | 'parts'> {
  const count = body.parts.length
  if (count === 0 || count > MAX_PARTS) {
    throw new LadeError('invalid_parts', { reason: `The request has ${count} parts; the limit is 1 to ${MAX_PARTS}.` })
  }
  if (new Set(body.parts).size > mostParts(fileBytes)) {
    throw new LadeError('too_large', { limit: fileBytes, size: (count - 1) * PART_BYTES + 1 })
  }
  const known = new Map<string, ContentId>()
  return {
    parts: body.parts.map((text, place) => {
      const part = known.get(text) ?? readPart(text, place)
      known.set(text, part)
      return part
    }),
    head: {
      ...head,
      contentType: parseMediaType(body.contentType ?? DEFAULT_MEDIA_TYPE),
      filename: body.filename === undefined || body.filename === null ? null : plainFileName(body.filename),
    },
  }
}

function readPart(text: string, place: number): ContentId {
  try {
    return parseContentId(text, sha256Hex)
  } catch (error) {
    if (!LadeError.has(error, 'invalid_cid')) throw error
    const name = JSON.stringify(text.slice(0, 80))
    throw new LadeError('invalid_parts', {
      reason: `Part ${place + 1}, ${name}, is not a valid cid: ${error.evidence.reason}`,
    })
  }
}
