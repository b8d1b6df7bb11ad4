import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { UploadResult } from './shapes.ts'
import { sampleBytes, useTarget } from './target.ts'

const run = promisify(execFile)
const target = useTarget()

/** The shell line behind a marker of the README, with this server in the place of the one that it names. */
async function readmeLine(marker: string): Promise<string> {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')
  const line = readme.split(`<!-- ${marker} -->\n\`\`\`sh\n`)[1]?.split('\n')[0]
  if (line === undefined) throw new Error(`README.md has no shell block behind <!-- ${marker} -->`)
  return line.replace('http://127.0.0.1:8080', target.baseUrl.origin)
}

describe('the README', () => {
  let dir: string
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'lade-readme-'))
  })
  afterAll(() => rm(dir, { recursive: true, force: true }))

  test('its first upload, pasted, prints the upload result and gives the file back', async () => {
    await writeFile(join(dir, 'photo.jpg'), sampleBytes(200_000))
    const { stdout } = await run('bash', ['-c', await readmeLine('first-upload')], { cwd: dir })
    const result = JSON.parse(stdout) as UploadResult
    expect(result).toMatchObject({ size: 200_000, sponsored: true, owner: null })
    const script = 'curl -sS -o copy.jpg "$retrievalUrl" && cmp photo.jpg copy.jpg && echo equal'
    const env = { ...process.env, retrievalUrl: result.retrievalUrl }
    const fetched = await run('bash', ['-c', script], { cwd: dir, env })
    expect(fetched.stdout.trim()).toBe('equal')
  })
})
