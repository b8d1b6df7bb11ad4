import type { EntriesPage, FileEntry, ListedEntry } from '@lade/core/wire'
import { useComputed, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { api, codeOf, messageOf } from '../app/api.ts'
import { openClient } from '../app/client.ts'
import { noteEnded } from '../app/session.ts'

/** Entries of one page: as many as are scrolled through in a moment. */
const PAGE_ENTRIES = 250

/** A folder as it is read, page by page. @param names - that lead to it from the root. */
export function useFolder(cid: string, names: readonly string[]) {
  /** The root, for who owns it. */
  const root = useSignal<FileEntry | undefined>(undefined)
  /** True for a folder of somebody else, and for none at all. */
  const isForeign = useSignal(false)
  const entries = useSignal<readonly ListedEntry[]>([])
  /** Undefined before the first page; null after the last. */
  const nextCursor = useSignal<string | null | undefined>(undefined)
  const isLoading = useSignal(false)
  const isMissing = useSignal(false)
  const problem = useSignal<string | undefined>(undefined)
  const asking = useRef({})
  const path = names.join('/')

  const loadRoot = async () => {
    try {
      root.value = await (await openClient(true)).files.get(cid)
    } catch (error) {
      // A folder of somebody else that is public can be read all the same.
      root.value = undefined
      isForeign.value = true
      noteEnded(error)
    }
  }
  const load = async (before: readonly ListedEntry[]) => {
    const own = {}
    asking.current = own
    isLoading.value = true
    problem.value = undefined
    try {
      const page = await pageOf(cid, path, nextCursor.value)
      if (asking.current !== own) return
      entries.value = [...before, ...page.entries]
      nextCursor.value = page.nextCursor
    } catch (error) {
      if (asking.current !== own) return
      const code = codeOf(error) ?? ''
      isMissing.value = ['not_found', 'gone', 'invalid_cid'].includes(code)
      problem.value = messageOf(error)
      noteEnded(error)
    } finally {
      if (asking.current === own) isLoading.value = false
    }
  }
  const reload = async () => {
    entries.value = []
    nextCursor.value = undefined
    isMissing.value = false
    await load([])
  }
  useEffect(() => {
    root.value = undefined
    isForeign.value = false
    void loadRoot()
  }, [cid])
  useEffect(() => {
    void reload()
    return () => {
      asking.current = {}
    }
  }, [cid, path])
  return {
    root,
    isForeign,
    entries,
    isLoading,
    isMissing,
    problem,
    isRead: useComputed(() => nextCursor.value !== undefined),
    hasMore: useComputed(() => nextCursor.value !== null),
    loadRoot,
    reload,
    async loadMore() {
      if (!isLoading.value && problem.value === undefined && nextCursor.value != null) await load(entries.value)
    },
  }
}

async function pageOf(cid: string, path: string, cursor: string | null | undefined): Promise<EntriesPage> {
  const query = new URLSearchParams({ path, limit: String(PAGE_ENTRIES), ...(cursor != null && { cursor }) })
  return api<EntriesPage>(`/api/files/${encodeURIComponent(cid)}/entries?${query}`)
}
