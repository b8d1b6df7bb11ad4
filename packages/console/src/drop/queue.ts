import { computed, effect, signal } from '@preact/signals'
import { codeOf, messageOf } from '../app/api.ts'
import { info } from '../app/service-info.ts'
import { noteEnded, session } from '../app/session.ts'
import { type ChosenFolder, folderOf } from './chosen-folder.ts'
import { earlier } from './earlier.ts'
import { PARTED_SLOTS, putUpload } from './put-upload.ts'
import { Rate } from './rate.ts'
import { beginUnfinished, forgetUnfinished } from './unfinished.ts'
import { Upload, type UploadSource } from './upload.ts'

/** Files side by side. A browser has six connections to a host, and the page needs some for itself. */
const SLOTS = 4
/** A file in parts sends several of them side by side, and takes as many places. */
const PARTED_BYTES = 104_857_600
const TICK_MS = 500

/** Newest first, those of one choice in their order: what was chosen just now is seen. They are sent in the order of their numbers. */
export const uploads = signal<readonly Upload[]>([])
export const isPaused = signal(false)
/** Bytes a second of all files together; undefined until it is known. */
export const rate = signal<number | undefined>(undefined)

/** The files that count towards the progress: all that are not refused. */
const counted = computed(() => uploads.value.filter(({ state }) => state.value !== 'refused'))
export const totals = computed(() => {
  let [files, sizeBytes, sentBytes, done, failed, sending] = [0, 0, 0, 0, 0, 0]
  for (const upload of counted.value) {
    sizeBytes += upload.sizeBytes
    sentBytes += upload.sentBytes.value
    files += upload.files
    done += upload.doneFiles.value
    if (upload.state.value === 'failed') failed += 1
    if (upload.isSending.value) sending += 1
  }
  return { files, sizeBytes, sentBytes, done, failed, sending }
})
/** True while something is sent or waits for its turn. */
export const isBusy = computed(() => counted.value.some((upload) => !upload.hasEnded.value))
export const secondsLeft = computed(() => {
  const bytesPerSecond = rate.value
  if (bytesPerSecond === undefined || bytesPerSecond < 1) return undefined
  const left = counted.value.reduce(
    (sum, upload) => sum + (upload.hasEnded.value ? 0 : upload.sizeBytes - upload.sentBytes.value),
    0,
  )
  return left / bytesPerSecond
})

let freeSlots = SLOTS
const held: (() => void)[] = []
const measured = new Rate()

/** Puts files into the queue; those that are there already, and have not failed, are left out. */
export function addFiles(files: readonly File[]): void {
  add(files.map((file) => ({ kind: 'file', file })))
}

/** Puts folders into the queue, each as one. */
export function addFolders(folders: readonly ChosenFolder[]): void {
  add(folders.map((folder) => ({ kind: 'folder', folder })))
}

/** Uploads a folder with what was left out of it: in place of what has not arrived, or else as another folder. */
export function takeHidden(upload: Upload): void {
  if (upload.source.kind !== 'folder') return
  const { name, items, hidden } = upload.source.folder
  if (upload.state.value !== 'done') removeUpload(upload)
  addFolders([folderOf(name, [...items, ...hidden], true)])
}

function add(sources: readonly UploadSource[]): void {
  const known = new Map(uploads.value.map((upload) => [upload.fingerprint, upload]))
  const fresh: Upload[] = []
  for (const source of sources) {
    const upload = new Upload(source)
    const before = known.get(upload.fingerprint)
    if (before !== undefined) {
      if (before.state.value === 'failed') retry(before)
      continue
    }
    known.set(upload.fingerprint, upload)
    const limitBytes = fileLimit()
    const { sizeBytes, path } = upload.largest
    if (limitBytes !== undefined && sizeBytes > limitBytes) {
      upload.refusal.value = { limitBytes, ...(path !== undefined && { path }) }
      upload.state.value = 'refused'
    }
    fresh.push(upload)
  }
  uploads.value = [...fresh, ...uploads.value]
  for (const upload of fresh) if (upload.state.value === 'waiting') void beginUnfinished(upload)
  next()
}

/** The largest file that this caller may send; undefined while nobody knows, and for wallets, which have none. */
export function fileLimit(): number | undefined {
  if (session.value?.via === 'wallet') return undefined
  const tiers = info.value?.tiers
  return (session.value ? tiers?.token : tiers?.sponsored)?.fileBytes
}

export function pause(): void {
  isPaused.value = true
  measured.reset()
}

export function resume(): void {
  isPaused.value = false
  for (const go of held.splice(0)) go()
  next()
}

export function retry(upload: Upload): void {
  upload.again()
  void beginUnfinished(upload)
  next()
}

/** Gives a file up, or takes one that has ended off the list. */
export function removeUpload(upload: Upload): void {
  upload.controller.abort(new Error('given up'))
  uploads.value = uploads.value.filter((one) => one !== upload)
  // Of a folder that is dropped again later, what was sent must be known, so that it does not stay as files by themselves.
  const isPartlySent = upload.folder !== undefined && upload.begunParts.value > 0
  if (upload.state.value !== 'done' && !isPartlySent) void forgetUnfinished(upload.fingerprint)
  if (uploads.value.length === 0) isPaused.value = false
  // What waits at the gate has to see that it was given up.
  for (const go of held.splice(0)) go()
}

export function cancelAll(): void {
  for (const upload of uploads.value) if (!upload.hasEnded.value) removeUpload(upload)
}

/** Takes what is done off the list; it stays in the list of this browser's uploads. */
export function clearEnded(): void {
  uploads.value = uploads.value.filter((upload) => !upload.hasEnded.value)
}

/** Tries again what was refused for its size, after somebody has signed in. */
export function reconsiderRefused(): void {
  const limitBytes = fileLimit()
  for (const upload of uploads.value) {
    if (upload.state.value !== 'refused' || (limitBytes !== undefined && upload.largest.sizeBytes > limitBytes))
      continue
    upload.refusal.value = undefined
    retry(upload)
  }
}

function next(): void {
  if (isPaused.value) return
  for (const upload of uploads.value.toSorted((one, other) => one.number - other.number)) {
    if (upload.state.value !== 'waiting') continue
    const slots = upload.folder !== undefined || upload.sizeBytes > PARTED_BYTES ? PARTED_SLOTS : 1
    if (slots > freeSlots) return
    freeSlots -= slots
    upload.state.value = 'hashing'
    void send(upload).finally(() => {
      freeSlots += slots
      next()
    })
  }
}

async function send(upload: Upload): Promise<void> {
  const { controller } = upload
  try {
    upload.done(await putUpload(upload, () => gate(controller.signal)))
    await forgetUnfinished(upload.fingerprint)
  } catch (error) {
    if (controller.signal.aborted) return
    upload.failed(messageOf(error), codeOf(error))
    noteEnded(error)
  }
}

/** Resolves at once, or when a pause ends. */
async function gate(signal: AbortSignal): Promise<void> {
  while (isPaused.value && !signal.aborted) await new Promise<void>((go) => held.push(go))
}

/** Measures while something is sent, and warns before the page is left meanwhile. */
export function watchQueue(): void {
  let timer: ReturnType<typeof setInterval> | undefined
  const tick = () => {
    if (isPaused.value) return
    measured.note(totals.value.sentBytes, performance.now())
    rate.value = measured.bytesPerSecond
  }
  const warn = (event: BeforeUnloadEvent) => event.preventDefault()
  effect(() => {
    if (isBusy.value && timer === undefined) {
      timer = setInterval(tick, TICK_MS)
      addEventListener('beforeunload', warn)
    } else if (!isBusy.value && timer !== undefined) {
      clearInterval(timer)
      timer = undefined
      measured.reset()
      rate.value = undefined
      removeEventListener('beforeunload', warn)
    }
  })
}

/** Uploads of earlier visits that are not in the queue of this one. */
export const earlierOnly = computed(() => {
  const here = new Set(uploads.value.map(({ result }) => result.value?.cid))
  return earlier.value.filter(({ result }) => !here.has(result.cid))
})
