import type { FileEntry, FileKind } from '@lade/client'
import { computed, signal } from '@preact/signals'
import { messageOf } from '../app/api.ts'
import { openClient } from '../app/client.ts'
import { noteEnded } from '../app/session.ts'

/** Files of one page: as many as are scrolled through in a moment. */
const PAGE_FILES = 250
const TYPING_MS = 250

/** What is looked for; empty for all. */
export interface FileFilter {
  readonly q: string
  readonly kind: FileKind | ''
  readonly contentType: string
  readonly status: FileEntry['status'] | ''
  /** How soon a file ends at the latest; null for whenever. */
  readonly endsWithinDays: number | null
}

const NO_FILTER: FileFilter = { q: '', kind: '', contentType: '', status: '', endsWithinDays: null }

export const filter = signal<FileFilter>(NO_FILTER)
export const files = signal<readonly FileEntry[]>([])
export const isLoading = signal(false)
export const problem = signal<string | undefined>(undefined)
/** The ids of the files that are chosen, to do something with all of them. */
export const chosen = signal<ReadonlySet<string>>(new Set())
export const isFiltered = computed(() => Object.values(filter.value).some((value) => value !== '' && value !== null))

/** Undefined before the first page; null after the last. */
const nextCursor = signal<string | null | undefined>(undefined)
export const hasMore = computed(() => nextCursor.value !== null)

let asking = new AbortController()
let typing: ReturnType<typeof setTimeout> | undefined

/** Looks for other files. While somebody types, it waits for the end of the word. */
export function changeFilter(change: Partial<FileFilter>): void {
  filter.value = { ...filter.value, ...change }
  clearTimeout(typing)
  typing = setTimeout(() => void reload(), change.q === undefined ? 0 : TYPING_MS)
}

export function clearFilter(): void {
  filter.value = NO_FILTER
  void reload()
}

/** From the first page on. What is shown stays until the answer is there. */
export async function reload(): Promise<void> {
  asking.abort()
  chosen.value = new Set()
  nextCursor.value = undefined
  await load([])
}

export async function loadMore(): Promise<void> {
  if (isLoading.value || !hasMore.value) return
  await load(files.value)
}

async function load(before: readonly FileEntry[]): Promise<void> {
  const controller = new AbortController()
  asking = controller
  isLoading.value = true
  problem.value = undefined
  try {
    const client = await openClient(true)
    let cursor = nextCursor.value ?? undefined
    let found: readonly FileEntry[] = []
    // A page of a search may be empty although there are more.
    do {
      const { q, kind, contentType, status, endsWithinDays } = filter.value
      const page = await client.files.page({
        cursor,
        limit: PAGE_FILES,
        signal: controller.signal,
        ...(q !== '' && { q }),
        ...(kind !== '' && { kind }),
        ...(contentType !== '' && { contentType }),
        ...(endsWithinDays !== null && { endsWithinDays }),
        ...(status !== '' && { status }),
      })
      found = [...found, ...page.files]
      cursor = page.nextCursor ?? undefined
    } while (found.length === 0 && cursor !== undefined)
    if (controller.signal.aborted) return
    files.value = [...before, ...found]
    nextCursor.value = cursor ?? null
  } catch (error) {
    if (controller.signal.aborted) return
    problem.value = messageOf(error)
    noteEnded(error)
  } finally {
    if (asking === controller) isLoading.value = false
  }
}

/** Shows a file as it is now. */
export function replaceFile(entry: FileEntry): void {
  files.value = files.value.map((file) => (file.cid === entry.cid ? entry : file))
}

export function dropFile(cid: string): void {
  files.value = files.value.filter((file) => file.cid !== cid)
  choose(cid, false)
}

export function choose(cid: string, isChosen: boolean): void {
  const next = new Set(chosen.value)
  if (isChosen) next.add(cid)
  else next.delete(cid)
  chosen.value = next
}

export function chooseAll(isChosen: boolean): void {
  chosen.value = new Set(isChosen ? files.value.map(({ cid }) => cid) : [])
}
