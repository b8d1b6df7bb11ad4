import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ContentId } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import { MAX_PARTS_NAMED, PART_BYTES } from '@lade/core/wire'
import type { FileRecord, FoundPart, PartFile, RecordStore } from '../records/record-store.ts'
import { type Spender, spending } from './spending.ts'

/** Keys that are looked up before others have a turn: where the records are in a file, that is done on this thread. */
const KEYS_AT_ONCE = 500

export interface FindPartsInput {
  readonly principal: string
  readonly cid: ContentId
  readonly parts: readonly ContentId[]
  readonly now: number
}

/** What a composition begins with: the parts in order, or the whole, where the caller has that already. */
export type FoundParts = { readonly whole: FileRecord } | { readonly parts: readonly PartFile[] }

/**
 * Finds the files that a file is to be composed of, unless the caller has the whole itself. Each is looked up once, however often it is
 * named, and no byte is read.
 *
 * @throws {LadeError} `missing_parts`, `foreign_parts`, and `invalid_parts` for parts that cannot be put together.
 */
export async function findParts(
  records: Pick<RecordStore, 'compositions'>,
  budget: Spender['budget'],
  input: FindPartsInput,
): Promise<FoundParts> {
  const { principal, cid, parts, now } = input
  const find = (keys: readonly string[]): Promise<readonly FoundPart[]> =>
    spending({ budget, principal, work: 'compose' }, () => records.compositions.find({ principal, keys, now }))
  const findWhole = async (): Promise<FileRecord | undefined> => {
    const [whole] = await find([cid.key])
    return whole?.outcome === 'found' && isWhole(cid, whole.part) ? whole.part.file : undefined
  }

  const before = await findWhole()
  if (before !== undefined) return { whole: before }
  const keys = [...new Set(parts.map(({ key }) => key))]
  const byKey = new Map<string, FoundPart>()
  for (let at = 0; at < keys.length; at += KEYS_AT_ONCE) {
    if (at > 0) await nextTurn()
    const some = keys.slice(at, at + KEYS_AT_ONCE)
    for (const [index, part] of (await find(some)).entries()) byKey.set(some[index] ?? '', part)
  }
  const found = parts.map(({ key }) => byKey.get(key) ?? { outcome: 'missing' as const })

  const missing = namesOf(input, found, 'missing')
  if (missing.length > 0) {
    // The same request may have become a file between the two.
    const after = await findWhole()
    if (after !== undefined) return { whole: after }
    throw missingParts(missing)
  }
  const foreign = namesOf(input, found, 'foreign')
  if (foreign.length > 0) {
    throw new LadeError('foreign_parts', { parts: foreign.slice(0, MAX_PARTS_NAMED), count: foreign.length })
  }
  const files = found.flatMap((each) => (each.outcome === 'found' ? [each.part] : []))
  for (const [place, part] of files.entries()) checkPart(input, place, part)
  return { parts: files }
}

/** @param cids - as the caller wrote them. */
export function missingParts(cids: readonly string[]): LadeError<'missing_parts'> {
  return new LadeError('missing_parts', { missing: cids.slice(0, MAX_PARTS_NAMED), count: cids.length })
}

/** A CAR, and the root block of a file, have the name of a file without being its bytes. */
function isWhole(cid: ContentId, { file, isPlain }: PartFile): boolean {
  return isPlain && !(cid.form === 'cid-dag-pb' && cid.key === `dag-pb:${file.sha256}`)
}

function namesOf({ parts }: FindPartsInput, found: readonly FoundPart[], outcome: FoundPart['outcome']): string[] {
  const names = found.flatMap((part, place) => (part.outcome === outcome ? (parts[place]?.text ?? []) : []))
  return [...new Set(names)]
}

function checkPart({ parts }: FindPartsInput, place: number, { file, isPlain }: PartFile): void {
  const isLast = place === parts.length - 1
  if (isPlain && file.sizeBytes > 0 && (isLast || file.sizeBytes % PART_BYTES === 0)) return
  const name = `Part ${place + 1} of ${parts.length} (${parts[place]?.text})`
  const reason = isPlain
    ? `${name} has ${file.sizeBytes} bytes. Every part but the last must be a multiple of ${PART_BYTES} bytes.`
    : `${name} was uploaded as a CAR. Name this part by an id of the CAR file itself, not by its root CID.`
  throw new LadeError('invalid_parts', { reason })
}
