import type { PutFolderOptions, PutOptions, UploadResult } from '@lade/client'
import { signal } from '@preact/signals'
import { openClient, secretMaker } from '../app/client.ts'
import { session } from '../app/session.ts'
import { keepUpload } from './earlier.ts'
import { claimSecretOf, keptStateOf } from './unfinished.ts'
import type { Upload } from './upload.ts'

/** Requests side by side, of a file in parts or of a folder. */
export const PARTED_SLOTS = 3

/** What somebody asks for, with an account. */
export interface KeepingWishes {
  readonly isPrivate: boolean
  readonly termDays: number | undefined
}
export const wishes = signal<KeepingWishes>({ isPrivate: false, termDays: undefined })

type Keeping = Pick<PutOptions & PutFolderOptions, 'claim' | 'visibility' | 'termDays'>

/** Uploads a file or a folder. @param gate - resolves when no pause holds it. */
export async function putUpload(upload: Upload, gate: () => Promise<void>): Promise<UploadResult> {
  if (session.value != null) {
    const { isPrivate, termDays } = wishes.value
    return put(upload, gate, {
      ...(isPrivate && { visibility: 'private' as const }),
      ...(termDays !== undefined && { termDays }),
    })
  }
  const claimSecret = await claimSecretOf(upload, await secretMaker())
  const result = await put(upload, gate, { claim: claimSecret })
  await keepUpload({ result, name: upload.name, at: Date.now(), claimSecret })
  return result
}

async function put(upload: Upload, gate: () => Promise<void>, keeping: Keeping): Promise<UploadResult> {
  const { source, controller } = upload
  const client = await openClient(session.value != null)
  const options = {
    ...keeping,
    signal: controller.signal,
    concurrency: PARTED_SLOTS,
    state: keptStateOf(upload),
    async beforePart() {
      upload.heldRequests.value += 1
      await gate()
      upload.heldRequests.value -= 1
      upload.begunParts.value += 1
    },
  }
  if (source.kind === 'file') {
    return client.put(source.file, { ...options, onProgress: (progress) => upload.note(progress) })
  }
  const { items, name } = source.folder
  // The list of the files is not kept: the service has it.
  const {
    entries: _,
    sentFiles: __,
    sentBytes: ___,
    foundFiles: ____,
    ...result
  } = await client.putFolder(items, {
    ...options,
    filename: name,
    onProgress: (progress) => upload.noteFolder(progress),
  })
  return result
}
