import { createHash, type Hash } from 'node:crypto'
import { LadeError } from '@lade/core/errors'
import { measured } from '@lade/node/budget/measured'
import type { ResumableBlob } from '../blobs/blob-store.ts'
import { BodyIntake, DEFAULT_BLOCK_BYTES } from '../blobs/body-intake.ts'
import { pumpBlocks } from '../blobs/pump-blocks.ts'
import { GrowingBody } from '../uploads/growing-body.ts'
import type { AgreedSize } from './agree-size.ts'
import type { AppendDeps, Appended, AppendInput, BodyChecksum, Turn } from './append-request.ts'
import { digestsWantedOf, finishUpload } from './finish-upload.ts'
import { KeptBody } from './kept-body.ts'
import { holderOf, noSuchUpload, OPEN_UPLOAD_MS } from './open-uploads.ts'
import type { RunningHasher } from './running-hashers.ts'
import { intentFrom } from './upload-intent.ts'

/** How often what came is made durable while a body flows: after so many bytes, and with fewer after so much time. */
const KEEP_EVERY_BYTES = 128 * 1024 * 1024
const KEEP_LEAST_BYTES = 4 * 1024 * 1024
const KEEP_EVERY_MS = 5000

interface Receiving extends Turn {
  readonly blob: ResumableBlob
  readonly size: AgreedSize
}

/** Takes the body of a request to an upload that this request writes to. */
export async function receiveInto(deps: AppendDeps, input: AppendInput, receiving: Receiving): Promise<Appended> {
  const { upload, writer, writing, blob, size } = receiving
  const { openUploads } = deps.records
  const { id, offset, checksum } = input
  const signal = AbortSignal.any([input.signal, writing.signal])
  let { sizeBytes } = size
  let writtenBytes = offset
  let keptBytes = offset
  let keptAt = performance.now()
  const hash = checksum && createHash(checksum.algorithm)
  let running = hasherFor(deps, input, receiving)
  const hasher = running?.hasher

  /** Makes what was written durable, and says so. */
  const keep = async (isLast: boolean): Promise<number> => {
    const place = await blob.keep()
    const expiresAt = deps.now() + OPEN_UPLOAD_MS
    const advance = { id, writer, durableBytes: writtenBytes, place, expiresAt, sizeBytes, isLast }
    if (!(await openUploads.advance(advance))) throw noSuchUpload()
    keptBytes = writtenBytes
    keptAt = performance.now()
    return expiresAt
  }
  const isKeepDue = (): boolean => {
    const newBytes = writtenBytes - keptBytes
    if (checksum !== undefined || writtenBytes === sizeBytes || newBytes < KEEP_LEAST_BYTES) return false
    return newBytes >= KEEP_EVERY_BYTES || performance.now() - keptAt >= KEEP_EVERY_MS
  }

  const body = bodyOf(input, size, signal)
  const intake = new BodyIntake(body, {
    sizeBytes: undefined,
    blockBytes: DEFAULT_BLOCK_BYTES,
    ownsChunks: input.ownsChunks,
    onProgress: input.onProgress,
  })
  try {
    await hasher?.ready(signal)
    input.onReady()
    await pumpBlocks(intake, {
      onBlock: (block) =>
        hash &&
        measured(
          () => hash.update(block),
          (processorMs) => input.bill.spend(processorMs),
        ),
      write: async (block) => {
        await blob.write(block)
        writtenBytes += block.length
        if (isKeepDue()) await keep(false)
      },
      hash: hasher && ((block) => hasher.update(block)),
      onFailure: () => hasher?.discard(),
    })
    requireChecksum(hash, checksum, body.cut)
    if (input.isLast === true && body.cut === undefined) sizeBytes ??= writtenBytes
    if (writtenBytes === sizeBytes && upload.kind === 'whole') {
      const { tier } = input
      // What the whole upload has paid is made unpaid if it is refused.
      const bill = running?.bill ?? input.bill
      const whole = { ...upload, durableBytes: writtenBytes, sizeBytes, writer: undefined, place: '' }
      const staged = await finishUpload(deps, {
        upload,
        sizeBytes,
        blob,
        hasher,
        tier,
        bill,
        signal: new AbortController().signal,
      })
      await blob.close()
      await deps.blobs.sweepPending(holderOf(id)).catch(() => {})
      return { upload: { ...whole, cid: staged.file.cid }, staged }
    }
    const expiresAt = await keep(true)
    if (running !== undefined) deps.openUploads.hashers.put(id, running, writtenBytes)
    running = undefined
    // The offset that the sender asks for next has what it brought.
    if (body.cut !== undefined && writtenBytes !== sizeBytes) throw body.cut
    return { upload: { ...upload, durableBytes: writtenBytes, sizeBytes, writer: undefined, expiresAt } }
  } finally {
    running?.hasher.discard()
    intake.close()
    body.close()
  }
}

function bodyOf({ body }: AppendInput, { allow }: AgreedSize, signal: AbortSignal): KeptBody {
  body.pause()
  const source = allow === undefined ? body : new GrowingBody(body, { signal, onProgress: () => {}, allow })
  return new KeptBody(source, { signal })
}

/** The hasher that has seen all bytes so far; undefined where nobody needs one, or the bytes are read once more at the end. */
function hasherFor(
  deps: AppendDeps,
  { id, offset, bill }: AppendInput,
  { upload, size: { sizeBytes } }: Receiving,
): RunningHasher | undefined {
  const isInline = sizeBytes !== undefined && sizeBytes <= deps.inlineBytes
  if (upload.kind !== 'whole' || isInline) {
    deps.openUploads.hashers.drop(id)
    return undefined
  }
  const running = deps.openUploads.hashers.take(id, offset)
  if (running !== undefined || offset > 0) return running
  const wanted = { ...digestsWantedOf(intentFrom(upload.head), id, sizeBytes), chunks: true }
  return { hasher: deps.hashers(wanted, sizeBytes, bill), bill }
}

/** @throws {LadeError} `checksum_mismatch`; what cut the body, since a part of it cannot be checked. */
function requireChecksum(hash: Hash | undefined, checksum: BodyChecksum | undefined, cut: unknown): void {
  if (hash === undefined || checksum === undefined) return
  if (cut !== undefined) throw cut
  const actual = hash.digest('base64')
  const expected = Buffer.from(checksum.digest).toString('base64')
  if (actual !== expected) throw new LadeError('checksum_mismatch', { algorithm: checksum.algorithm, expected, actual })
}
