import {
  aliasesOf,
  type ContentId,
  checkContent,
  type DigestsWanted,
  dagCid,
  digestsWanted,
  parseContentId,
} from '@lade/core/content'
import { IMPORT_PROFILES } from '@lade/core/dag'
import { type ErrorCode, LadeError } from '@lade/core/errors'
import { isCarMediaType } from '@lade/core/wire'
import type { BodyBill } from '@lade/node/budget/body-bill'
import { type BodyDigests, type ContentHasher, digestWhole } from '@lade/node/hashing/content-hasher'
import { digestField } from '@lade/node/hashing/digest-field'
import { sha256Hex } from '@lade/node/hashing/sha256'
import type { ResumableBlob } from '../blobs/blob-store.ts'
import { BodyIntake, DEFAULT_BLOCK_BYTES } from '../blobs/body-intake.ts'
import { pumpBlocks } from '../blobs/pump-blocks.ts'
import type { OpenUploadRecord } from '../records/record-store.ts'
import { agreeTerms } from '../uploads/admit-upload.ts'
import { settleFailedBill } from '../uploads/body-bills.ts'
import type { StagedUpload } from '../uploads/file-commit.ts'
import { type Arrived, recordArrived } from '../uploads/stage-upload.ts'
import type { UploadTier } from '../uploads/upload-tier.ts'
import { bodyOfChunks } from './body-of-chunks.ts'
import { endOpenUpload, type OpenUploadDeps } from './open-uploads.ts'
import { headOf, intentFrom, type UploadIntent } from './upload-intent.ts'

/** What an upload is refused for at its end that would be so at every other try. */
const HOPELESS: readonly ErrorCode[] = [
  'cid_mismatch',
  'digest_mismatch',
  'invalid_car',
  'incomplete_dag',
  'cid_conflict',
  'blocked',
  'caller_blocked',
  'lease_lost',
  'empty_body',
  'too_large',
  'invalid_visibility',
  'invalid_term',
]

export interface FinishInput {
  readonly upload: OpenUploadRecord
  readonly sizeBytes: number
  /** All of the bytes. */
  readonly blob: ResumableBlob
  /** Has seen all of them; without one they are read once more. */
  readonly hasher: ContentHasher | undefined
  readonly tier: UploadTier
  readonly bill: BodyBill
  readonly signal: AbortSignal
  /** The partial uploads that the bytes are from, and whose reservation is used. */
  readonly parts?: readonly OpenUploadRecord[]
}

/** The import whose root is the id of bytes that came without one. */
const COMPUTED_PROFILE = 'unixfs-v1-2025'

/** What is to be computed over the bytes of an upload. */
export function digestsWantedOf(intent: UploadIntent, id: string, sizeBytes: number | undefined): DigestsWanted {
  if (intent.cid === undefined) {
    return { blake3: false, blake2b256: false, profiles: [COMPUTED_PROFILE], carRoot: undefined }
  }
  const mayBeCar = isCarMediaType(intent.contentType)
  return digestsWanted(headOf(intent, { id, sizeBytes }).cid, sizeBytes, { mayBeCar, profile: intent.profile })
}

/**
 * Takes an upload whose bytes are all there through the same door as every other: verified against its id, or named by the one that they
 * have, published, and recorded. The upload becomes the file in the transaction that charges it.
 *
 * One that is refused for what it is ends here, and nothing of it is left. After any other failure it is as it was.
 *
 * @throws {LadeError} as `stageUpload`.
 */
export async function finishUpload(deps: OpenUploadDeps, input: FinishInput): Promise<StagedUpload> {
  const { upload, sizeBytes, tier, bill, signal, parts = [] } = input
  try {
    const intent = intentFrom(upload.head)
    const { arrived, cid } = await verify(deps, input, intent)
    const head = { ...headOf(intent, { id: upload.id, sizeBytes }), cid, sizeBytes }
    // What the caller may do can have changed since the upload was opened.
    const { termDays } = agreeTerms({ tier, head, isStorageBound: true }, deps.now())
    const [first = upload] = parts
    const admission = { reservationId: first.reservationId, tier, head, termDays }
    const completes = { id: upload.id, partIds: parts.map(({ id }) => id) }
    return await recordArrived(deps, { admission, bill, signal, completes }, arrived, () => {})
  } catch (error) {
    settleFailedBill(bill, error)
    if (LadeError.is(error) && HOPELESS.includes(error.code)) {
      await input.blob.close()
      for (const { id } of [upload, ...parts]) await endOpenUpload(deps, id)
    }
    throw error
  }
}

async function verify(
  deps: OpenUploadDeps,
  input: FinishInput,
  intent: UploadIntent,
): Promise<{ arrived: Arrived; cid: ContentId }> {
  const { upload, sizeBytes, blob, bill } = input
  const wanted = digestsWantedOf(intent, upload.id, sizeBytes)
  let inline: Uint8Array | undefined
  let digests: BodyDigests
  if (sizeBytes <= deps.inlineBytes) {
    inline = await readWhole(blob)
    digests = digestWhole(inline, wanted, bill)
  } else digests = input.hasher === undefined ? await readAgain(deps, input, wanted) : await input.hasher.digests()
  if (intent.sha256 !== undefined && intent.sha256 !== digests.sha256) {
    const [expected, actual] = [digestField(intent.sha256), digestField(digests.sha256)]
    throw new LadeError('digest_mismatch', { expected, actual })
  }
  const cid = parseContentId(intent.cid ?? computedCid(digests), sha256Hex)
  const verified = checkContent(cid, digests)
  if (inline !== undefined) return { cid, arrived: { kind: 'inline', inline, digests, verified } }
  const name = { sha256: digests.sha256, put: blob.put }
  const pending = { name, commit: () => blob.commit(digests.sha256), abort: () => blob.close() }
  return { cid, arrived: { kind: 'blob', inline: undefined, digests, verified, blob: pending } }
}

/** A file of one leaf is that leaf. */
function computedCid({ dags, sizeBytes, sha256 }: BodyDigests): string {
  if (sizeBytes <= IMPORT_PROFILES[COMPUTED_PROFILE].chunkBytes) return aliasesOf(sha256).cidV1
  const dag = dags.find(({ profile }) => profile === COMPUTED_PROFILE)
  if (dag === undefined) throw new TypeError('the import that names the bytes was not computed')
  return dagCid(dag)
}

async function readWhole(blob: ResumableBlob): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of blob.read()) chunks.push(Uint8Array.from(chunk))
  return Buffer.concat(chunks)
}

/** Hashes the durable bytes, which the caller has sent, and this process has not seen. They pay for their way in, and not for this. */
async function readAgain(
  deps: OpenUploadDeps,
  { blob, sizeBytes, bill, signal }: FinishInput,
  wanted: DigestsWanted,
): Promise<BodyDigests> {
  bill.require()
  const hasher = deps.hashers({ ...wanted, chunks: true }, sizeBytes, bill)
  const body = bodyOfChunks(blob.read())
  const intake = new BodyIntake(body, { sizeBytes, blockBytes: DEFAULT_BLOCK_BYTES, signal })
  try {
    await hasher.ready(signal)
    await pumpBlocks(intake, { write: async () => {}, hash: (block) => hasher.update(block) })
    const digests = await hasher.digests()
    bill.takeBack()
    return digests
  } finally {
    hasher.discard()
    intake.close()
    body.destroy()
  }
}
