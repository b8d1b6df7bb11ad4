import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll } from 'vitest'
import type { RecordStoreSubject } from '../../conformance.ts'
import type { RecordStore } from '../../record-store.ts'
import { openConnection } from './connection.ts'
import { openSqliteRecordStore } from './sqlite-record-store.ts'
import { wreck } from './testing-wrecked.ts'

const files = new WeakMap<RecordStore, string>()
const bareOf = new WeakMap<RecordStore, RecordStore>()

function fileOf(store: RecordStore): string {
  const file = files.get(store)
  if (file === undefined) throw new TypeError('This store was not opened here.')
  return file
}

/** Empties every table, which is faster than a new store: that waits for its threads. */
function clear(file: string): void {
  const connection = openConnection(file)
  connection.pragma('foreign_keys = OFF')
  const tables = connection.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all()
  connection.transaction(() => {
    for (const name of tables) connection.exec(`DELETE FROM "${name}"`)
  })()
  connection.close()
}

async function remove(store: RecordStore): Promise<void> {
  await store.close()
  rmSync(dirname(fileOf(store)), { recursive: true })
}

/**
 * SQLite as the suite exercises it. Cases share a store, which is emptied between them.
 *
 * @param wrap - makes of a store the one that a case gets. @default the store itself
 */
export function sqliteSubject(wrap: (store: RecordStore) => RecordStore = (store) => store): RecordStoreSubject {
  /** The store of the last case, for the next. */
  let emptied: { readonly bare: RecordStore; readonly file: string } | undefined
  afterAll(async () => {
    if (emptied === undefined) return
    await emptied.bare.close()
    rmSync(dirname(emptied.file), { recursive: true })
  })

  async function openAt(file: string, opened?: RecordStore): Promise<RecordStore> {
    const bare = opened ?? (await openSqliteRecordStore({ file, onFatal: () => {} }))
    const store = wrap(bare)
    files.set(store, file)
    bareOf.set(store, bare)
    return store
  }

  return {
    async open() {
      const { bare, file = join(mkdtempSync(join(tmpdir(), 'lade-records-')), 'lade.db') } = emptied ?? {}
      emptied = undefined
      return openAt(file, bare)
    },
    async discard(store) {
      // A case may have closed it, or broken its medium.
      const isWhole = await store.check().then(
        () => true,
        () => false,
      )
      if (!isWhole) return remove(store)
      clear(fileOf(store))
      const bare = bareOf.get(store)
      emptied = bare && { bare, file: fileOf(store) }
    },
    async reopen(store) {
      await store.close()
      return openAt(fileOf(store))
    },
    openSecond: (store) => openAt(fileOf(store)),
    breakNext: (store) => wreck(fileOf(store)),
  }
}
