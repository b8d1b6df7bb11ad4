import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openInstanceLocks } from './instance-locks.ts'

const ASKING = fileURLToPath(new URL('./testing-ask-without-descriptors.ts', import.meta.url))

describe('the locks of instances', () => {
  let root: string
  let dir: string
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'lade-locks-'))
    dir = join(root, 'instances')
  })
  afterEach(() => rmSync(root, { recursive: true, force: true }))

  it('say that an instance lives while it holds its lock, and then that it does not', async () => {
    const locks = openInstanceLocks({ dir })
    const held = await locks.hold('one')
    const others = openInstanceLocks({ dir })
    expect(await others.isHeld('one')).toBe(true)
    await held.release()
    expect(await others.isHeld('one')).toBe(false)
  })

  it('say that an instance is dead whose lock nobody holds, and remove it', async () => {
    const locks = openInstanceLocks({ dir })
    writeFileSync(join(dir, 'left.lock'), '')
    expect(await locks.isHeld('left')).toBe(false)
    expect(existsSync(join(dir, 'left.lock'))).toBe(false)
  })

  it('error: do not take an instance for dead for want of file descriptors', async () => {
    const held = await openInstanceLocks({ dir }).hold('one')
    const script = `ulimit -n 64; exec "$0" "$@"`
    const answer = execFileSync('sh', ['-c', script, process.execPath, ASKING, dir, 'one'], { encoding: 'utf8' })
    expect(answer).toMatch(/^unknown: .*unable to open database file/)
    await held.release()
  })

  it('error: do not take an instance for dead whose lock is there and cannot be opened', async () => {
    const locks = openInstanceLocks({ dir })
    mkdirSync(join(dir, 'folder.lock'))
    await expect(locks.isHeld('folder')).rejects.toThrow('unable to open')
    symlinkSync(join(dir, 'loop.lock'), join(dir, 'loop.lock'))
    await expect(locks.isHeld('loop')).rejects.toThrow('ELOOP')
  })

  it('error: do not take an instance for dead while the folder of the locks is not there', async () => {
    const locks = openInstanceLocks({ dir })
    rmSync(dir, { recursive: true })
    await expect(locks.isHeld('one')).rejects.toThrow('ENOENT')
  })
})
