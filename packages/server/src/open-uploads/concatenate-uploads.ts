import { LadeError } from '@lade/core/errors'
import type { BodyBill } from '@lade/node/budget/body-bill'
import type { ResumableBlob } from '../blobs/blob-store.ts'
import { BodyIntake, DEFAULT_BLOCK_BYTES } from '../blobs/body-intake.ts'
import { pumpBlocks } from '../blobs/pump-blocks.ts'
import type { NewOpenUpload, OpenUploadRecord } from '../records/record-store.ts'
import type { StagedUpload } from '../uploads/file-commit.ts'
import type { UploadTier } from '../uploads/upload-tier.ts'
import type { AppendDeps } from './append-request.ts'
import { bodyOfChunks } from './body-of-chunks.ts'
import { createOpenUpload } from './create-open-upload.ts'
import { digestsWantedOf, finishUpload } from './finish-upload.ts'
import { askAboutOpenUpload, endOpenUpload, holderOf, noSuchUpload } from './open-uploads.ts'
import type { UploadIntent } from './upload-intent.ts'

export interface ConcatenateInput {
  /** The partial uploads, in order. */
  readonly ids: readonly string[]
  readonly tier: UploadTier
  readonly intent: UploadIntent
  readonly metadata: string
  readonly bill: BodyBill
  readonly signal: AbortSignal
}

export interface Concatenated {
  readonly upload: NewOpenUpload
  readonly staged: StagedUpload
}

/**
 * Makes one file of partial uploads, whose bytes are read once more for it, against the caller's budget. It uses what they have reserved,
 * so that it fits where they did. They end with it; when it cannot be made for now, they stay as they are.
 *
 * @throws {LadeError} `not_found` and `bad_request` for parts that are none, are not complete, or come twice; `over_budget`; and as
 *   `stageUpload`.
 */
export async function concatenateUploads(deps: AppendDeps, input: ConcatenateInput): Promise<Concatenated> {
  const { tier, intent, metadata, bill, signal } = input
  const parts = await findParts(deps, input)
  const sizeBytes = parts.reduce((sum, part) => sum + part.durableBytes, 0)
  bill.require()
  const upload = await createOpenUpload(deps, { tier, intent, kind: 'final', sizeBytes, metadata })
  const blob = await deps.blobs.resume({ holder: holderOf(upload.id), place: '', keptBytes: 0, sizeBytes })
  if (blob === undefined) throw new TypeError('a new upload can be written to')
  const isInline = sizeBytes <= deps.inlineBytes
  const wanted = { ...digestsWantedOf(intent, upload.id, sizeBytes), chunks: true }
  const hasher = isInline ? undefined : deps.hashers(wanted, sizeBytes, bill)
  const body = bodyOfChunks(bytesOf(deps, parts))
  const intake = new BodyIntake(body, { sizeBytes, blockBytes: DEFAULT_BLOCK_BYTES, signal })
  try {
    await hasher?.ready(signal)
    await pumpBlocks(intake, {
      write: (block) => blob.write(block),
      hash: hasher && ((block) => hasher.update(block)),
      onFailure: () => hasher?.discard(),
    })
    // The bytes have paid when they came.
    bill.takeBack()
    const record = { ...upload, durableBytes: 0, place: '', writer: undefined, cid: undefined }
    const staged = await finishUpload(deps, { upload: record, sizeBytes, blob, hasher, tier, bill, signal, parts })
    await blob.close()
    for (const { id } of [upload, ...parts]) await deps.blobs.sweepPending(holderOf(id)).catch(() => {})
    return { upload, staged }
  } catch (error) {
    await blob.close()
    await endOpenUpload(deps, upload.id)
    throw error
  } finally {
    hasher?.discard()
    intake.close()
    body.destroy()
  }
}

async function findParts(deps: AppendDeps, { ids, tier }: ConcatenateInput): Promise<readonly OpenUploadRecord[]> {
  if (new Set(ids).size !== ids.length) {
    throw new LadeError('bad_request', { reason: 'Upload-Concat names a partial upload twice.' })
  }
  const parts: OpenUploadRecord[] = []
  for (const id of ids) {
    const part = await askAboutOpenUpload(deps, { id, principal: tier.principal })
    if (part.kind !== 'partial') {
      throw new LadeError('bad_request', { reason: `The upload ${id} is not a partial upload.` })
    }
    if (part.durableBytes !== part.sizeBytes) {
      throw new LadeError('bad_request', { reason: `The partial upload ${id} is not complete.` })
    }
    parts.push(part)
  }
  return parts
}

async function* bytesOf(deps: AppendDeps, parts: readonly OpenUploadRecord[]): AsyncGenerator<Uint8Array> {
  for (const { id, place, durableBytes } of parts) {
    if (durableBytes === 0) continue
    const range = { holder: holderOf(id), place, keptBytes: durableBytes, sizeBytes: durableBytes }
    const part: ResumableBlob | undefined = await deps.blobs.resume(range)
    if (part === undefined) throw noSuchUpload()
    try {
      yield* part.read()
    } finally {
      await part.close()
    }
  }
}
