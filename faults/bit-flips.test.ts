import { cpSync, existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PLAN } from './plan.ts'
import { runSeed, seededRandom } from './seeded-random.ts'
import { type ServerProcess, startServer } from './server-process.ts'
import { storeVariety } from './stored-variety.ts'
import { tempDirectory } from './temp-directory.ts'
import { flipOneBitOf, wrongAnswers } from './wrong-answers.ts'

/** Flips that are made at a time; they are looked at together. */
const FLIPS_PER_START = { database: 3, log: 1, objects: 12 } as const
type Place = keyof typeof FLIPS_PER_START

function filesOf(dataDir: string, place: Place): string[] {
  if (place === 'database') return [join(dataDir, 'lade.db')]
  if (place === 'log')
    return [join(dataDir, 'lade.db-wal')].filter((file) => existsSync(file) && statSync(file).size > 0)
  return readdirSync(join(dataDir, 'objects'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /[0-9a-f]{2}\/[0-9a-f]{64}/.test(name))
    .map((name) => join(dataDir, 'objects', name))
}

/** A service on a copy of the data; undefined when it refuses to start. */
async function startOn(dataDir: string): Promise<ServerProcess | undefined> {
  try {
    return await startServer({ dataDir })
  } catch {
    return undefined
  }
}

test(`no wrong byte is served after ${PLAN.bitFlips} flips of a bit in database, log and objects`, {
  timeout: 7_200_000,
}, async () => {
  const random = seededRandom(runSeed)
  const counts = { flips: 0, starts: 0, refusedStarts: 0, ended: 0, wrong: 0 }
  const template = tempDirectory()
  const first = await startServer({ dataDir: template })
  const names = await storeVariety(first.url)
  for (const name of names) expect(await wrongAnswers(first.url, name, random), name.path).toEqual([])
  // Without a checkpoint there is a log to flip bits in.
  await first.kill()

  while (counts.flips < PLAN.bitFlips) {
    for (const place of ['database', 'objects', 'log'] as const) {
      const dataDir = join(tempDirectory(), 'data')
      cpSync(template, dataDir, { recursive: true })
      if (place === 'database') await (await startOn(dataDir))?.stop()
      const flips: string[] = []
      const files = filesOf(dataDir, place)
      for (let count = 0; count < FLIPS_PER_START[place] && files.length > 0; count += 1) {
        flips.push(await flipOneBitOf(random.pick(files), random))
      }
      counts.flips += flips.length
      counts.starts += 1
      const server = await startOn(dataDir)
      if (server === undefined) {
        counts.refusedStarts += 1
        continue
      }
      const wrong: string[] = []
      for (const name of names) wrong.push(...(await wrongAnswers(server.url, name, random)))
      counts.wrong += wrong.length
      expect(wrong, `seed ${runSeed}, flips ${flips.join('; ')}`).toEqual([])
      if ((await Promise.race([server.exited, Promise.resolve(undefined)])) !== undefined) counts.ended += 1
      await server.kill()
    }
  }
  console.log(`bit flips, seed ${runSeed}: ${JSON.stringify(counts)}, ${names.length} names`)
})
