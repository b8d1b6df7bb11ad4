import { execFileSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DeleteObjectCommand, GetObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3'
import { expect, onTestFinished, test } from 'vitest'
import { s3Client, startCeph } from '../../services/ceph.ts'
import { freePort } from '../../services/free-port.ts'
import { type Lade, startLade } from '../../services/lade.ts'
import { startPostgres } from '../../services/postgres.ts'
import { BUCKET, s3Settings } from '../../services/stack.ts'
import { BOUNDLESS_QUOTAS } from '../load.ts'
import { PLAN } from '../plan.ts'
import { runSeed, type SeededRandom, seededRandom } from '../seeded-random.ts'
import { BASE_ENV } from '../server-process.ts'
import { storeVariety } from '../stored-variety.ts'
import { tempDirectory } from '../temp-directory.ts'
import { bitWithin, flipOneBitOf, wrongAnswers } from '../wrong-answers.ts'

/** Flips that are made at a time; they are looked at together. */
const FLIPS_PER_START = { database: 3, objects: 12 } as const
const PREFIX = 'flips'

test(`no wrong byte is served after ${PLAN.fleetBitFlips} flips of a bit in PostgreSQL without checksums and in S3`, {
  timeout: 600_000 + PLAN.fleetBitFlips * 5000,
}, async () => {
  const random = seededRandom(runSeed)
  const counts = { flips: 0, starts: 0, refusedStarts: 0, wrong: 0 }
  const postgres = await startPostgres({ fsync: false, dataChecksums: false })
  onTestFinished(() => postgres.discard())
  const ceph = await startCeph()
  onTestFinished(() => ceph.discard())
  await ceph.createBucket(BUCKET)
  const bucket = bucketOf(ceph.endpoint)
  onTestFinished(() => bucket.close())
  const env = {
    ...BASE_ENV,
    ...BOUNDLESS_QUOTAS,
    LADE_DATABASE: await postgres.createDatabase('lade'),
    LADE_DATA_DIR: tempDirectory(),
    ...s3Settings(ceph.port, PREFIX),
  }
  const start = async (): Promise<Lade> => {
    const lade = await startLade({ ...env, LADE_PORT: String(await freePort()) })
    onTestFinished(async () => void (await lade.kill()))
    return lade
  }

  const first = await start()
  const names = await storeVariety(first.url)
  for (const name of names) expect(await wrongAnswers(first.url, name, random), name.path).toEqual([])
  await first.stop()
  await postgres.stop()
  const template = join(tempDirectory(), 'cluster')
  execFileSync('cp', ['-a', postgres.dataDir, template])
  const objects = await bucket.read()
  const blobs = [...objects.keys()].filter((key) => key.startsWith(`${PREFIX}/objects/`))

  while (counts.flips < PLAN.fleetBitFlips) {
    for (const place of ['database', 'objects'] as const) {
      execFileSync('rm', ['-r', postgres.dataDir])
      execFileSync('cp', ['-a', template, postgres.dataDir])
      await bucket.restore(objects)
      const flips: string[] = []
      for (let count = 0; count < FLIPS_PER_START[place]; count += 1) {
        flips.push(
          place === 'database'
            ? await flipOneBitOf(random.pick(tablesOf(postgres.dataDir)), random)
            : await bucket.flipOneBitOf(random.pick(blobs), random),
        )
      }
      counts.flips += flips.length
      counts.starts += 1
      const lade = await postgres
        .start()
        .then(start)
        .catch(() => undefined)
      if (lade === undefined) counts.refusedStarts += 1
      else {
        const wrong: string[] = []
        for (const name of names) wrong.push(...(await wrongAnswers(lade.url, name, random)))
        counts.wrong += wrong.length
        expect(wrong, `seed ${runSeed}, flips ${flips.join('; ')}`).toEqual([])
        await lade.kill()
      }
      await postgres.stop()
    }
  }
  console.log(`bit flips in PostgreSQL and S3, seed ${runSeed}: ${JSON.stringify(counts)}, ${names.length} names`)
})

const FIRST_OWN_OID = 16_384

/** The files of the service's tables and indexes; those of PostgreSQL itself have lower numbers. */
function tablesOf(dataDir: string): string[] {
  return readdirSync(join(dataDir, 'base'), { recursive: true, encoding: 'utf8' })
    .filter((name) => Number(/^\d+\/(\d+)$/.exec(name)?.[1] ?? 0) >= FIRST_OWN_OID)
    .map((name) => join(dataDir, 'base', name))
    .filter((file) => statSync(file).size > 0)
}

/** What the service keeps in the bucket, past the service. */
function bucketOf(endpoint: URL) {
  const client = s3Client(endpoint)
  const put = (Key: string, Body: Uint8Array) => client.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body }))
  async function bytesOf(Key: string): Promise<Uint8Array> {
    const { Body } = await client.send(new GetObjectCommand({ Bucket: BUCKET, Key }))
    return (await Body?.transformToByteArray()) ?? new Uint8Array()
  }
  async function keys(): Promise<string[]> {
    const { Contents = [], IsTruncated } = await client.send(
      new ListObjectsV2Command({ Bucket: BUCKET, Prefix: `${PREFIX}/` }),
    )
    if (IsTruncated === true) throw new TypeError('there are more objects than one page names')
    return Contents.flatMap(({ Key }) => Key ?? [])
  }
  return {
    async read(): Promise<Map<string, Uint8Array>> {
      const objects = new Map<string, Uint8Array>()
      for (const key of await keys()) objects.set(key, await bytesOf(key))
      return objects
    },
    /** Makes the bucket hold these objects and no others. */
    async restore(objects: ReadonlyMap<string, Uint8Array>): Promise<void> {
      for (const Key of await keys()) await client.send(new DeleteObjectCommand({ Bucket: BUCKET, Key }))
      for (const [key, bytes] of objects) await put(key, bytes)
    },
    async flipOneBitOf(key: string, random: SeededRandom): Promise<string> {
      const bytes = Uint8Array.from(await bytesOf(key))
      if (bytes.length === 0) return `${key} has no bytes`
      const { at, bit } = bitWithin(bytes.length, random)
      bytes[at] = (bytes[at] ?? 0) ^ (1 << bit)
      await put(key, bytes)
      return `${key}: byte ${at} of ${bytes.length}, bit ${bit}`
    },
    close: () => client.destroy(),
  }
}
