const DATABASE = 'lade-console'
const VERSION = 1
const STORES = ['unfinished', 'uploads'] as const

/** Records of one kind that outlive the page, by key. */
export interface Store<Value> {
  get(key: string): Promise<Value | undefined>
  put(key: string, value: Value): Promise<void>
  remove(key: string): Promise<void>
  all(): Promise<Value[]>
}

let opening: Promise<IDBDatabase> | undefined

/**
 * Opens a store in this browser. Where the browser keeps nothing, as in some private windows, the store is empty and forgets: nothing here
 * is needed for an upload, only to take one up again.
 */
export function openStore<Value>(name: (typeof STORES)[number]): Store<Value> {
  const run = async <Result>(
    mode: IDBTransactionMode,
    work: (store: IDBObjectStore) => IDBRequest<Result>,
  ): Promise<Result | undefined> => {
    try {
      opening ??= openDatabase()
      const database = await opening
      return await settled(work(database.transaction(name, mode).objectStore(name)))
    } catch {
      return undefined
    }
  }
  return {
    get: (key) => run<Value>('readonly', (store) => store.get(key)),
    async put(key, value) {
      await run('readwrite', (store) => store.put(value, key))
    },
    async remove(key) {
      await run('readwrite', (store) => store.delete(key))
    },
    all: async () => (await run<Value[]>('readonly', (store) => store.getAll())) ?? [],
  }
}

function openDatabase(): Promise<IDBDatabase> {
  const request = indexedDB.open(DATABASE, VERSION)
  request.onupgradeneeded = () => {
    for (const name of STORES)
      if (!request.result.objectStoreNames.contains(name)) request.result.createObjectStore(name)
  }
  return settled(request)
}

function settled<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}
