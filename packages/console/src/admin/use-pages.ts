import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { messageOf } from '../app/api.ts'
import { noteEnded } from '../app/session.ts'

/** One answer of a listing. */
export interface ListPage<Entry> {
  readonly entries: readonly Entry[]
  readonly nextCursor: string | null
}

/** Asks for the page after a cursor, or for the first one. */
export type ReadPage<Entry> = (cursor: string | undefined, signal: AbortSignal) => Promise<ListPage<Entry>>

/**
 * A listing that is read page by page.
 *
 * @param key - the listing begins anew when it changes, such as what is searched for.
 */
export function usePages<Entry>(key: string, read: ReadPage<Entry>) {
  const entries = useSignal<readonly Entry[]>([])
  /** Undefined before the first page; null after the last. */
  const cursor = useSignal<string | null | undefined>(undefined)
  const isLoading = useSignal(false)
  const problem = useSignal<string | undefined>(undefined)
  const asking = useRef(new AbortController())

  async function load(before: readonly Entry[], from: string | undefined): Promise<void> {
    asking.current.abort()
    const controller = new AbortController()
    asking.current = controller
    isLoading.value = true
    problem.value = undefined
    try {
      let found: readonly Entry[] = []
      let next = from
      // A page of a search may be empty before a page that follows.
      do {
        const page = await read(next, controller.signal)
        found = [...found, ...page.entries]
        next = page.nextCursor ?? undefined
      } while (found.length === 0 && next !== undefined)
      if (controller.signal.aborted) return
      entries.value = [...before, ...found]
      cursor.value = next ?? null
    } catch (error) {
      if (controller.signal.aborted) return
      problem.value = messageOf(error)
      noteEnded(error)
    } finally {
      if (asking.current === controller) isLoading.value = false
    }
  }

  const reload = () => load([], undefined)
  useEffect(() => {
    void reload()
    return () => asking.current.abort()
  }, [key])
  return {
    entries,
    isLoading,
    problem,
    hasMore: cursor.value !== null,
    reload,
    async loadMore(): Promise<void> {
      if (!isLoading.value && typeof cursor.value === 'string') await load(entries.value, cursor.value)
    },
  }
}
