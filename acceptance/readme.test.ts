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

/** The shell block after a marker of the README, with the address of this server. */
async function readmeBlock(marker: string): Promise<string> {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')
  const block = readme.split(`<!-- ${marker} -->\n\`\`\`sh\n`)[1]?.split('```')[0]
  if (block === undefined) throw new Error(`README.md has no shell block after <!-- ${marker} -->`)
  return block.replaceAll('http://127.0.0.1:8080', target.baseUrl.origin)
}

describe('the README', () => {
  let dir: string
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'lade-readme-'))
  })
  afterAll(() => rm(dir, { recursive: true, force: true }))

  test('its first upload, pasted, prints the upload result and downloads the same bytes', async () => {
    await writeFile(join(dir, 'README.md'), sampleBytes(200_000))
    const { stdout } = await run('bash', ['-c', await readmeBlock('first-upload')], { cwd: dir })
    const end = stdout.lastIndexOf('}') + 1
    const result = JSON.parse(stdout.slice(0, end)) as UploadResult
    expect(result).toMatchObject({ size: 200_000, sponsored: true, owner: null })
    expect(stdout.slice(end).trim()).toBe('The downloaded bytes are identical.')
  })
})
