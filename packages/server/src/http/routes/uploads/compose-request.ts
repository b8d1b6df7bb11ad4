import type { IncomingMessage } from 'node:http'
import { type ContentId, parseContentId } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import { type ComposeRequest, HEADER, MAX_PARTS, parseFileName, parseMediaType } from '@lade/core/wire'
import { sha256Hex } from '../../../hashing/sha256.ts'
import type { Visibility } from '../../../records/record-store.ts'
import type { ComposeInput } from '../../../uploads/compose-file.ts'
import { singleHeader } from '../../framing.ts'
import type { Query } from '../../query.ts'
import { cidOf, termDaysOf, visibilityOf } from './upload-head.ts'

const DEFAULT_MEDIA_TYPE = 'application/octet-stream'

/** What the head of a composition says. */
export interface ComposeHead {
  readonly cid: ContentId
  readonly visibility: Visibility
  readonly termDays: number | undefined
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
  }
}

/**
 * Puts the body of a composition to its head. A part that is named more than once is read once, and too many are not read at all.
 *
 * @throws {LadeError} `invalid_parts`, `invalid_content_type`, `invalid_filename`.
 */
export function readComposition(head: ComposeHead, body: ComposeRequest): Pick<ComposeInput, 'head' | 'parts'> {
  const count = body.parts.length
  if (count > MAX_PARTS) {
    throw new LadeError('invalid_parts', { reason: `There are ${count} of them; a file has 1 to ${MAX_PARTS}.` })
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
      filename: body.filename === undefined || body.filename === null ? null : readName(body.filename),
    },
  }
}

function readPart(text: string, place: number): ContentId {
  try {
    return parseContentId(text, sha256Hex)
  } catch (error) {
    if (!LadeError.has(error, 'invalid_cid')) throw error
    const name = JSON.stringify(text.slice(0, 80))
    throw new LadeError('invalid_parts', { reason: `Part ${place + 1}, ${name}, is no cid: ${error.evidence.reason}` })
  }
}

function readName(name: string): string {
  // What is no text cannot be percent-encoded.
  if (!name.isWellFormed()) throw new LadeError('invalid_filename', { reason: 'It is not well-formed Unicode.' })
  return parseFileName(encodeURIComponent(name))
}
