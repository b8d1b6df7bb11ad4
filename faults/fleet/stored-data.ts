import { ListMultipartUploadsCommand, ListObjectsV2Command, type S3Client } from '@aws-sdk/client-s3'
import { Client } from 'pg'
import { s3Client } from '../../services/ceph.ts'
import type { FileRow, StoredData } from '../data-directory.ts'

export interface StoredDataPlace {
  /** `postgres://…` */
  readonly database: string
  readonly endpoint: URL
  readonly bucket: string
  /** Without a slash at its end. */
  readonly prefix: string
}

/** Reads what a service keeps in PostgreSQL and in S3, at rest or beside the processes that use it. */
export async function readStoredData(place: StoredDataPlace): Promise<StoredData> {
  // The bytes first: what is recorded is never younger than its bytes.
  const { puts, pending } = await readBucket(place)
  const { current, waiting, ...records } = await readRecords(place.database)
  // What was replaced is there until its readers are through.
  const left = puts.filter((name) => !waiting.has(name))
  const blobs = new Set(left.map((name) => (current.has(name) ? name.slice(0, name.indexOf('/')) : name)))
  return { ...records, blobs, pending }
}

/** Puts as `<digest>/<name>`: those that objects are read from, and those that will be removed in a while. */
interface RecordedPuts {
  readonly current: ReadonlySet<string>
  readonly waiting: ReadonlySet<string>
}

async function readRecords(database: string): Promise<Omit<StoredData, 'blobs' | 'pending'> & RecordedPuts> {
  const client = new Client({ connectionString: database })
  await client.connect()
  try {
    // One snapshot for all tables.
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    const column = async (sql: string): Promise<string[]> =>
      (await client.query<[string]>({ text: sql, rowMode: 'array' })).rows.map(([value]) => value)
    const files = await client.query<FileRow>(
      `SELECT principal, sha256, size_bytes::float8 AS "sizeBytes", charged_bytes::float8 AS "chargedBytes",
         ended_at IS NULL AS "isLive"
       FROM files JOIN objects ON objects.id = files.object ORDER BY sequence`,
    )
    const usage = await client.query<{ principal: string; bytes: number }>(
      'SELECT principal, SUM(bytes)::float8 AS bytes FROM usage GROUP BY principal',
    )
    return {
      files: files.rows,
      usage: new Map(usage.rows.map(({ principal, bytes }) => [principal, bytes])),
      reservations: await column('SELECT principal FROM reservations'),
      discards: await column('SELECT sha256 FROM discards WHERE due_at <= extract(epoch FROM now()) * 1000'),
      current: new Set(await column("SELECT sha256 || '/' || put FROM objects WHERE place = 'blob'")),
      waiting: new Set(
        await column("SELECT sha256 || '/' || put FROM discards WHERE due_at > extract(epoch FROM now()) * 1000"),
      ),
      inlineObjects: new Set(
        await column("SELECT sha256 FROM objects WHERE place = 'inline' AND octet_length(inline) = size_bytes"),
      ),
      blobObjects: new Set(
        await column("SELECT sha256 FROM objects WHERE place = 'blob' AND id NOT IN (SELECT whole FROM parts)"),
      ),
      composedObjects: new Set(await column('SELECT sha256 FROM objects WHERE id IN (SELECT whole FROM parts)')),
    }
  } finally {
    await client.end()
  }
}

async function readBucket({
  endpoint,
  bucket,
  prefix,
}: StoredDataPlace): Promise<{ readonly puts: readonly string[]; readonly pending: readonly string[] }> {
  const client = s3Client(endpoint)
  try {
    const objects = await keysUnder(client, bucket, `${prefix}/objects/`)
    const pending = await keysUnder(client, bucket, `${prefix}/pending/`)
    const uploads = await uploadsUnder(client, bucket, `${prefix}/`)
    return {
      puts: objects.map((key) => {
        const [sha256, put = ''] = key.slice(`${prefix}/objects/00/`.length).split('/')
        return `${sha256}/${put}`
      }),
      pending: [...pending.map((key) => key.slice(`${prefix}/pending/`.length)), ...uploads],
    }
  } finally {
    client.destroy()
  }
}

async function keysUnder(client: S3Client, bucket: string, prefix: string): Promise<string[]> {
  const keys: string[] = []
  let token: string | undefined
  do {
    const page = await client.send(
      new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, ContinuationToken: token }),
    )
    keys.push(...(page.Contents ?? []).flatMap(({ Key }) => Key ?? []))
    token = page.NextContinuationToken
  } while (token !== undefined)
  return keys
}

/** Uploads in parts that were begun and neither completed nor aborted, which no listing of objects shows. */
async function uploadsUnder(client: S3Client, bucket: string, prefix: string): Promise<string[]> {
  const page = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: prefix }))
  return (page.Uploads ?? []).map(({ Key, UploadId }) => `upload ${UploadId} of ${Key}`)
}
