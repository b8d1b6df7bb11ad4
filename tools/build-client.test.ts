import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BUDGET_BYTES, type BundledFile, buildClient, CLIENT_FILE, sizeAtOnce, WORKER_FILE } from './build-client.ts'

let folder = ''
let files: BundledFile[] = []
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lade-bundle-'))
  files = await buildClient(folder)
}, 60_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const textOf = (name: string) => readFileSync(join(folder, name), 'utf8')

describe('the client bundled for browsers', () => {
  it('is within its budget, and is one file and a worker', () => {
    expect(sizeAtOnce(files)).toBeLessThanOrEqual(BUDGET_BYTES)
    // Less would mean that it is not all there.
    expect(sizeAtOnce(files)).toBeGreaterThan(10 * 1024)
    expect(files.filter(({ isLoadedAtOnce }) => isLoadedAtOnce).map(({ name }) => name)).toEqual([CLIENT_FILE])
    expect(textOf(CLIENT_FILE)).toContain(`./${WORKER_FILE}`)
    expect(textOf(WORKER_FILE)).not.toContain('import.meta.url')
  })

  it('brings along neither schemas, nor WebAssembly that not every page may compile, nor anything of Node', () => {
    const text = textOf(CLIENT_FILE)
    // Compared as a list, since the text is too long to be shown.
    const foreign = [/\bZod/, /\bWebAssembly\b/, /['"`]node:/, /\bCBOR\b/, /\bBuffer\.(?:from|alloc)/]
    expect(foreign.filter((mark) => mark.test(text))).toEqual([])
  })
})
