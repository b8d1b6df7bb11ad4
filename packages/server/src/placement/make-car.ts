import { setImmediate as nextTurn } from 'node:timers/promises'
import { LadeError } from '@lade/core/errors'
import { hexOf } from '@lade/node/hashing/hex'
import { pieceHashing } from '@lade/node/hashing/piece-hashing'
import type { CarCandidate, CarSource } from '../records/record-store.ts'
import { carLayoutOf, nodeCid } from './car-bytes.ts'
import { pieceBytes } from './piece-bytes.ts'
import type { PlacementContext } from './placement-context.ts'

const BATCH = 200

/**
 * Decides about the oldest deals that nobody decided about whether their files get a CAR, and computes the piece of the first that does.
 *
 * Public files get one that were uploaded under the CID of a UnixFS DAG, and whose CAR fits one piece: provers that announce blocks then have
 * copies of it beside those of the file. Its bytes are read once for that, and hashed as they go.
 *
 * @returns false when there is nothing left to decide.
 */
export async function makeCar(context: PlacementContext): Promise<boolean> {
  const { records, now, log } = context
  const { placements } = records
  const candidates = await placements.carCandidates({ limit: BATCH })
  const at = candidates.findIndex((candidate) => carOf(context, candidate) !== undefined)
  const passedOver = candidates.slice(0, at === -1 ? candidates.length : at).map(({ file }) => file)
  if (passedOver.length > 0) await placements.carChecked({ files: passedOver })
  const found = candidates[at]
  const car = found && carOf(context, found)
  if (found === undefined || car === undefined) return candidates.length > 0
  const { file } = found
  try {
    const source = { ...car, rootCid: await rootCidOf(context, car) }
    const { sizeBytes } = carLayoutOf(source)
    const pieceRoot = await pieceRootOf(context, source, sizeBytes)
    const { rootCid, profile } = source
    await placements.addCar({ file, pieceRoot, sizeBytes, rootCid, profile, copies: context.ipfsCopies, now: now() })
  } catch (error) {
    if (!LadeError.has(error, 'storage_failed')) throw error
    log.error({ err: error, file }, 'a file gets no CAR, because its bytes cannot be read')
    await placements.carChecked({ files: [file] })
  }
  return true
}

/** Undefined for a file that gets no CAR. */
function carOf(
  { provers }: Pick<PlacementContext, 'provers'>,
  { object, sizeBytes: objectBytes, dag }: CarCandidate,
): Omit<CarSource, 'rootCid'> | undefined {
  if (dag === null) return undefined
  const car = { kind: 'car', object, objectBytes, profile: dag.profile, dag: dag.number } as const
  const { sizeBytes } = carLayoutOf(car)
  const isTaken = provers.some(
    ({ announcesBlocks, limits }) =>
      announcesBlocks && sizeBytes >= limits.minimumBytes && sizeBytes <= limits.maximumBytes,
  )
  return isTaken ? car : undefined
}

async function rootCidOf({ records }: PlacementContext, car: Omit<CarSource, 'rootCid'>): Promise<string> {
  const { dag } = carLayoutOf(car)
  const root = dag.nodeCount - 1
  const digest = car.dag === null ? undefined : await records.blocks.digests({ dag: car.dag, from: root, count: 1 })
  if (digest === undefined) throw new LadeError('storage_failed', { retryAfterSeconds: 60 })
  return nodeCid(dag, root, new Uint8Array(digest)).toString()
}

/** Gives way to everything else after each block. */
async function pieceRootOf(context: PlacementContext, source: CarSource, sizeBytes: number): Promise<string> {
  const piece = pieceHashing.create()
  for await (const chunk of pieceBytes(context, { id: 0, pieceRoot: '', sizeBytes, source }).chunks()) {
    context.signal.throwIfAborted()
    piece.update(chunk)
    await nextTurn()
  }
  return hexOf(piece.finish().root)
}
