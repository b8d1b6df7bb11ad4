import type { Enrolment, NewAggregate, NewPiece, UnenrolledFile } from '../records/record-store.ts'
import { type AggregateHeights, fitsAggregate, heightsOf } from './aggregate.ts'
import { type CuttableObject, cutPieces, SUBTREE_RAW_BYTES } from './cut-pieces.ts'
import { folderAggregates } from './folder-aggregates.ts'
import { networkOf, type PlacementContext } from './placement-context.ts'

const NODE_BYTES = 32

/** What decides how a file is handed to provers. */
export type EnrolContext = Pick<
  PlacementContext,
  'records' | 'provers' | 'now' | 'copies' | 'aggregateBelowBytes' | 'aggregateTargetBytes'
>

/**
 * Decides for files that were staged since the last time how provers get them, and records it; at most `limit`, oldest first, in one
 * transaction.
 *
 * Private and empty files stay here, and so do files whose piece was never computed: they are looked at again when they are staged again. Small
 * files wait to be aggregated. A composed file that is too big for one piece goes as the pieces of its parts, so that nothing is sent
 * again that was sent with a part. A folder goes with all its files, small ones together. Everything else goes as it is, or in slices as big as provers take. Where this process is the only
 * prover, every file is one piece at once.
 *
 * @returns how many files were looked at.
 */
export async function enrolFiles(context: EnrolContext, limit: number): Promise<number> {
  const { placements } = context.records
  const files = await placements.unenrolled({ after: await placements.enrolledUpTo(), limit })
  const upTo = files.at(-1)?.file
  if (upTo === undefined) return 0
  const rules = rulesOf(context)
  const enrolments = files.map(
    (file): Enrolment => ({
      file: file.file,
      copiesWanted: context.copies,
      as: enrolmentOf(file, rules),
    }),
  )
  await placements.enrol({ now: context.now(), upTo, enrolments })
  return files.length
}

interface Rules {
  /** Smaller files wait. */
  readonly waitBelowBytes: number
  /** Smaller files of a folder share pieces. */
  readonly aggregateBelowBytes: number
  readonly heights: AggregateHeights
  /** The smallest piece that some prover takes, and the biggest that all of them take. */
  readonly minimumBytes: number
  readonly maximumBytes: number
  readonly fitsAggregate: (sizeBytes: number) => boolean
}

function rulesOf(context: EnrolContext): Rules {
  const limits = networkOf(context).map((prover) => prover.limits)
  const heights = heightsOf(context)
  if (limits.length === 0) {
    return {
      waitBelowBytes: 0,
      aggregateBelowBytes: context.aggregateBelowBytes,
      heights,
      minimumBytes: 0,
      maximumBytes: Number.MAX_SAFE_INTEGER,
      fitsAggregate: (sizeBytes) => fitsAggregate(context, sizeBytes),
    }
  }
  const minimumBytes = Math.min(...limits.map((limit) => limit.minimumBytes))
  const waitBelowBytes = Math.max(context.aggregateBelowBytes, minimumBytes)
  return {
    waitBelowBytes,
    aggregateBelowBytes: waitBelowBytes,
    heights,
    minimumBytes,
    maximumBytes: Math.min(...limits.map((limit) => limit.maximumBytes)),
    fitsAggregate: (sizeBytes) => fitsAggregate(context, sizeBytes),
  }
}

function enrolmentOf(file: UnenrolledFile, rules: Rules): Enrolment['as'] {
  const { sizeBytes, pieceRoot, visibility, parts, members } = file
  if (visibility === 'private' || pieceRoot === null || sizeBytes === 0) return { kind: 'keep' }
  if (members.length > 0) return { kind: 'pieces', pieces: folderPieces([{ ...file, pieceRoot }, ...members], rules) }
  if (sizeBytes < rules.waitBelowBytes && rules.fitsAggregate(sizeBytes)) return { kind: 'wait' }
  const whole = { ...file, pieceRoot }
  const isByParts = parts.length > 0 && sizeBytes > rules.maximumBytes
  const objects = isByParts && parts.every((part) => isPlaceable(part, rules)) ? parts : [whole]
  const pieces = objects.flatMap((object) => cut(object, rules))
  return pieces.length === 0 ? { kind: 'keep' } : { kind: 'pieces', pieces }
}

/** A folder goes as the pieces of its big files, and as aggregates of its small ones, which are its own. */
function folderPieces(objects: readonly CuttableObject[], rules: Rules): (NewPiece | NewAggregate)[] {
  const isSmall = ({ sizeBytes }: CuttableObject): boolean =>
    sizeBytes < rules.aggregateBelowBytes && rules.fitsAggregate(sizeBytes)
  const small = objects.filter(isSmall)
  return [
    ...folderAggregates(small, rules.heights),
    ...objects.filter((object) => !isSmall(object)).flatMap((object) => cut(object, rules)),
  ]
}

function isPlaceable(part: CuttableObject, rules: Rules): boolean {
  return part.sizeBytes >= rules.minimumBytes && isCuttable(part, rules)
}

/** None where it is too big and the subtrees that it would be cut at are not known. */
function cut(object: CuttableObject, rules: Rules): NewPiece[] {
  return isCuttable(object, rules) ? cutPieces(object, rules.maximumBytes) : []
}

function isCuttable({ sizeBytes, pieceSubtreeRoots }: CuttableObject, { maximumBytes }: Rules): boolean {
  if (sizeBytes <= maximumBytes) return true
  return pieceSubtreeRoots.length === NODE_BYTES * Math.ceil(sizeBytes / SUBTREE_RAW_BYTES)
}
