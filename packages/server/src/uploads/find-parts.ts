import type { ContentId } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import { MAX_PARTS_NAMED, PART_BYTES } from '@lade/core/wire'
import type { FileRecord, FoundPart, PartFacts, RecordStore } from '../records/record-store.ts'

export interface FindPartsInput {
  readonly principal: string
  readonly cid: ContentId
  readonly parts: readonly ContentId[]
  readonly now: number
}

/** What a composition begins with: the parts in order, or the whole, where the caller has that already. */
export type FoundParts = { readonly whole: FileRecord } | { readonly parts: readonly PartFacts[] }

/**
 * Finds the files that a file is to be composed of, unless the caller has the whole itself.
 *
 * @throws {LadeError} `missing_parts`, `foreign_parts`, and `invalid_parts` for parts that cannot be put together.
 */
export async function findParts(records: RecordStore, input: FindPartsInput): Promise<FoundParts> {
  const { principal, cid, parts, now } = input
  const keys = [cid, ...parts].map(({ key }) => key)
  const [whole, ...found] = await records.compositions.find({ principal, keys, now })
  if (whole?.outcome === 'found' && isWhole(cid, whole.part)) return { whole: whole.part.file }

  const missing = namesOf(input, found, 'missing')
  if (missing.length > 0) throw missingParts(missing)
  const foreign = namesOf(input, found, 'foreign')
  if (foreign.length > 0) {
    throw new LadeError('foreign_parts', { parts: foreign.slice(0, MAX_PARTS_NAMED), count: foreign.length })
  }
  const facts = found.flatMap((each) => (each.outcome === 'found' ? [each.part] : []))
  for (const [place, part] of facts.entries()) checkPart(input, place, part)
  return { parts: facts }
}

/** @param cids - as the caller wrote them. */
export function missingParts(cids: readonly string[]): LadeError<'missing_parts'> {
  return new LadeError('missing_parts', { missing: cids.slice(0, MAX_PARTS_NAMED), count: cids.length })
}

/** A CAR, and the root block of a file, have the name of a file without being its bytes. */
function isWhole(cid: ContentId, { file, isPlain }: PartFacts): boolean {
  return isPlain && !(cid.form === 'cid-dag-pb' && cid.key === `dag-pb:${file.sha256}`)
}

function namesOf({ parts }: FindPartsInput, found: readonly FoundPart[], outcome: FoundPart['outcome']): string[] {
  const names = found.flatMap((part, place) => (part.outcome === outcome ? (parts[place]?.text ?? []) : []))
  return [...new Set(names)]
}

function checkPart({ parts }: FindPartsInput, place: number, { file, isPlain }: PartFacts): void {
  const name = `Part ${place + 1} of ${parts.length} (${parts[place]?.text})`
  if (!isPlain) {
    throw new LadeError('invalid_parts', { reason: `${name} was uploaded as a CAR: name the CAR by its own bytes.` })
  }
  const isLast = place === parts.length - 1
  if (isLast || file.sizeBytes % PART_BYTES === 0) return
  const reason = `${name} has ${file.sizeBytes} bytes; all but the last have a multiple of ${PART_BYTES}.`
  throw new LadeError('invalid_parts', { reason })
}
