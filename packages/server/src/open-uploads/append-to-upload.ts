import { LadeError } from '@lade/core/errors'
import type { OpenUploadRecord } from '../records/record-store.ts'
import { agreeSize } from './agree-size.ts'
import type { AppendDeps, Appended, AppendInput, Turn } from './append-request.ts'
import { endOpenUpload, findOpenUpload, holderOf, noSuchUpload } from './open-uploads.ts'
import { receiveInto } from './receive-into.ts'

/**
 * Adds a body to an upload. What this resolves with as `durableBytes` survives a power cut, and so does what a body brought that broke off:
 * the call rejects then, and the upload has the bytes. With a checksum it has all of them or none.
 *
 * The last bytes of an upload count once its file is stored. Until then the offset stays below its size, since clients take an offset that
 * equals the size for the end.
 *
 * @throws {LadeError} `not_found`, `offset_mismatch`, `upload_in_use`, `not_appendable`, `checksum_mismatch`, `bad_request` for a size that
 *   changes, `too_large`, the reason of `signal`, and as `stageUpload`.
 */
export async function appendToUpload(deps: AppendDeps, input: AppendInput): Promise<Appended> {
  // Before the request of its owner is ended for this one.
  await findOpenUpload(deps, { id: input.id, principal: input.tier.principal })
  const writing = await deps.openUploads.writers.enter(input.id)
  const writer = `${deps.instanceId}/${deps.newId()}`
  try {
    const upload = await take(deps, { id: input.id, writer })
    try {
      return await append(deps, input, { upload, writer, writing })
    } catch (error) {
      // Whoever comes next takes it from here anyway, if this cannot be said now.
      await deps.records.openUploads.giveBack({ id: input.id, writer }).catch(() => {})
      throw error
    }
  } finally {
    writing.leave()
  }
}

/** Makes this request the one that writes. A writer that ended without a word is followed; one that lives elsewhere is not. */
async function take(
  { records, instanceId, isAlive, now }: AppendDeps,
  { id, writer }: { readonly id: string; readonly writer: string },
): Promise<OpenUploadRecord> {
  let from: string | undefined
  for (;;) {
    const taken = await records.openUploads.take({ id, writer, from, now: now() })
    if (taken.outcome === 'absent') throw noSuchUpload()
    if (taken.outcome === 'taken') return taken.upload
    const [instance = ''] = taken.writer.split('/')
    const isElsewhere = instance !== instanceId && (await isAlive(instance))
    if (isElsewhere || from === taken.writer) throw new LadeError('upload_in_use', { retryAfterSeconds: 2 })
    from = taken.writer
  }
}

async function append(deps: AppendDeps, input: AppendInput, turn: Turn): Promise<Appended> {
  const { upload, writer } = turn
  const { offset, bodyBytes } = input
  if (upload.kind === 'final') {
    throw new LadeError('not_appendable', { reason: 'A concatenation is made of its parts and takes no bytes.' })
  }
  if (offset !== upload.durableBytes) {
    throw new LadeError('offset_mismatch', { expectedOffset: upload.durableBytes, providedOffset: offset })
  }
  if (upload.cid !== undefined) {
    if (bodyBytes !== 0) {
      throw new LadeError('not_appendable', {
        reason: 'The upload is complete. To change the file, upload another one.',
      })
    }
    await deps.records.openUploads.giveBack({ id: upload.id, writer })
    return { upload: { ...upload, writer: undefined } }
  }
  const size = await agreeSize(deps, input, upload)
  const { place, durableBytes, id } = upload
  const { principal } = input.tier
  const blob = await deps.blobs.resume({
    holder: holderOf(id),
    place,
    keptBytes: durableBytes,
    sizeBytes: size.sizeBytes,
    principal,
  })
  if (blob === undefined) {
    // The records are an older copy of themselves, or the bytes were lost.
    await endOpenUpload(deps, id)
    throw noSuchUpload()
  }
  try {
    return await receiveInto(deps, input, { ...turn, blob, size })
  } finally {
    await blob.close()
  }
}
