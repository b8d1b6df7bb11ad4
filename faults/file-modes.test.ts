import { chmodSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sponsoredCaller, upload } from './caller.ts'
import { newContent } from './content.ts'
import { startServer } from './server-process.ts'
import { tempDirectory } from './temp-directory.ts'

test('nothing in the data directory can be read by others, also when the directory itself can', async () => {
  const dataDir = tempDirectory()
  chmodSync(dataDir, 0o755)
  const server = await startServer({ dataDir })
  const caller = sponsoredCaller('198.51.100.7')
  for (const sizeBytes of [1_000, 200_000, 5_000_000]) {
    expect((await upload(server.url, caller, newContent(sizeBytes))).status).toBe(200)
  }
  expect(readdirSync(dataDir)).toContain('levels')
  const open = readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).filter(
    (name) => (statSync(join(dataDir, name)).mode & 0o077) !== 0,
  )
  expect(open).toEqual([])
  expect(await server.stop()).toEqual({ code: 0, signal: null })
})
