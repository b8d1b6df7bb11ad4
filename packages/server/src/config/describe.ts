import type { Config } from './config.ts'

/**
 * What a database is called in messages: never with its password.
 *
 * @example
 * describeDatabase(config.database) // 'the database lade at db.example'
 */
export function describeDatabase(database: Config['database']): string {
  if (database.kind === 'sqlite') return database.file
  const { host, pathname, searchParams } = new URL(database.url.reveal())
  return `the database ${decodeURIComponent(pathname.slice(1))} at ${host === '' ? searchParams.get('host') : host}`
}

/** What a storage is called in messages. */
export function describeStorage(storage: Config['storage']): string {
  switch (storage.kind) {
    case 'none':
      return 'no storage'
    case 'file':
      return storage.dir
    case 's3':
      return `the bucket ${storage.bucket}${storage.prefix === '' ? '' : ` below ${storage.prefix}`}`
  }
}
