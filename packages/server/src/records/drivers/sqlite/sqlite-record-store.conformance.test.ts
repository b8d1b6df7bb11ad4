import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll } from 'vitest'
import { describeRecordStore } from '../../conformance.ts'
import type { RecordStore } from '../../record-store.ts'
import { openConnection } from './connection.ts'
import { openSqliteRecordStore } from './sqlite-record-store.ts'
import { wreck } from './testing-wrecked.ts'

const files = new WeakMap<RecordStore, string>()

async function openAt(file: string): Promise<RecordStore> {
  const store = await openSqliteRecordStore({ file, onFatal: () => {} })
  files.set(store, file)
  return store
}

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

/** The store of the last case, for the next. */
let emptied: RecordStore | undefined
afterAll(async () => {
  if (emptied !== undefined) await remove(emptied)
})

describeRecordStore('sqlite', {
  async open() {
    const store = emptied
    emptied = undefined
    return store ?? openAt(join(mkdtempSync(join(tmpdir(), 'lade-records-')), 'lade.db'))
  },
  async discard(store) {
    // A case may have closed it, or broken its medium.
    const isWhole = await store.check().then(
      () => true,
      () => false,
    )
    if (!isWhole) return remove(store)
    clear(fileOf(store))
    emptied = store
  },
  async reopen(store) {
    await store.close()
    return openAt(fileOf(store))
  },
  openSecond: (store) => openAt(fileOf(store)),
  breakNext: (store) => wreck(fileOf(store)),
})
