import { type ContentId, canBeRoot } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import { isCarMediaType } from '@lade/core/wire/media-type'
import { type HashWants, wantBoth, wantsFor } from '../hashing/hash-wants.ts'
import { type HashTools, PartHasher } from '../hashing/part-hasher.ts'
import { beginHashes, endHashes } from '../hashing/running-hash.ts'
import { checkDigests } from '../hashing/whole-digests.ts'
import type { Http } from '../http/http.ts'

export interface VerifierOptions {
  readonly id: ContentId
  readonly sizeBytes: number
  readonly contentType: string
  readonly http: Http
  readonly tools: HashTools
  readonly signal: AbortSignal | undefined
}

/** Checks the bytes of a file against its id while they pass. */
export interface Verifier {
  /** Takes the next bytes, which are the caller's again when this resolves. */
  update(chunk: Uint8Array<ArrayBuffer>): Promise<void>
  /**
   * Ends the bytes.
   *
   * @throws {LadeError} `cid_mismatch`; for a CAR also `invalid_car` and `incomplete_dag`; what asking for blocks can.
   */
  finish(): Promise<void>
}

/** Digests that say what the bytes were, whatever their id is made from. */
const PLAIN_LEAVES: HashWants = { leaves: ['raw-1m'], sha256: false, blake3: false, blake2b256: false, piece: false }

export async function beginVerifying(options: VerifierOptions): Promise<Verifier> {
  const { id, sizeBytes, contentType, tools } = options
  const isDagPb = id.form === 'cid-dag-pb'
  const own = wantsFor(id, sizeBytes)
  const wants = isDagPb ? wantBoth(own, PLAIN_LEAVES) : own
  const hasher = await PartHasher.begin(wants, sizeBytes, tools)
  const running = await beginHashes(wants, tools.sha256)
  const mayBeCar = isCarMediaType(contentType) && canBeRoot(id)
  const car = mayBeCar ? (await import('./read-dag.ts')).beginCar(id, sizeBytes, tools.sha256) : undefined
  return {
    async update(chunk) {
      await hasher.update(chunk)
      for (const hash of Object.values(running)) hash.update(chunk)
      car?.update(chunk)
    },
    async finish() {
      const part = hasher.finish()
      try {
        checkDigests(id, { ...part, hashes: endHashes(running) }, tools.sha256, car?.finish())
      } catch (error) {
        const leaves = part.leaves['raw-1m']
        if (!isDagPb || leaves === undefined || !LadeError.has(error, 'cid_mismatch')) throw error
        // It may be cut in a way of its own, as a CAR can bring it. Then its blocks are what can be checked.
        const { isFileOfDag } = await import('./read-dag.ts')
        if (!(await isFileOfDag({ ...options, leaves }))) throw error
      }
    },
  }
}
