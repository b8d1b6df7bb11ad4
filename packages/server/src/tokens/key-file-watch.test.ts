import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LadeError } from '@lade/core/errors'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openKeyFile, rotateKeyFile } from './key-file.ts'
import { type KeyFileWatch, watchKeyFile } from './key-file-watch.ts'
import type { SigningKey } from './signing-key.ts'
import { SigningKeys } from './signing-keys.ts'

const now = new Date('2030-01-01T00:00:00Z')
let dir = ''
let file = ''
let watch: KeyFileWatch | undefined

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'lade-watch-'))
  file = join(dir, 'token.key')
})
afterEach(async () => {
  watch?.close()
  await rm(dir, { recursive: true, force: true })
})

describe('SigningKeys', () => {
  it('refuses with auth_offline while there is no key', async () => {
    const keys = new SigningKeys()
    expect(() => keys.current()).toThrow(expect.objectContaining({ code: 'auth_offline' }))
    const { key } = await openKeyFile({ file, now })
    keys.replace(key)
    expect(keys.current()).toBe(key)
  })
})

describe('watchKeyFile', () => {
  it('puts a rotated key in force within 2 seconds at its default interval', async () => {
    const keys = new SigningKeys((await openKeyFile({ file, now })).key)
    const changed = Promise.withResolvers<SigningKey>()
    watch = watchKeyFile({ file, keys, onChange: changed.resolve })
    const startedMs = performance.now()
    const { key } = await rotateKeyFile({ file, now })
    expect((await changed.promise).id).toBe(key.id)
    expect(performance.now() - startedMs).toBeLessThan(2000)
    expect(keys.current().id).toBe(key.id)
  })

  it('finds a key that was rotated before the watch began', async () => {
    const keys = new SigningKeys((await openKeyFile({ file, now })).key)
    const { key } = await rotateKeyFile({ file, now })
    watch = watchKeyFile({ file, keys, intervalMs: 5 })
    await vi.waitFor(() => expect(keys.current().id).toBe(key.id), 10_000)
  })

  it('says nothing while the key stays the same', async () => {
    const keys = new SigningKeys((await openKeyFile({ file, now })).key)
    const onChange = vi.fn()
    const onError = vi.fn()
    watch = watchKeyFile({ file, keys, intervalMs: 2, onChange, onError })
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(onChange).not.toHaveBeenCalled()
    expect(onError).not.toHaveBeenCalled()
  })

  it('keeps the key while the file is missing or wrong, reports it, and follows when it is right again', async () => {
    const { key } = await openKeyFile({ file, now })
    const keys = new SigningKeys(key)
    const onError = vi.fn<(error: LadeError) => void>()
    watch = watchKeyFile({ file, keys, intervalMs: 5, onError })
    await rm(file)
    await vi.waitFor(() => expect(onError).toHaveBeenCalled(), 10_000)
    await writeFile(file, 'torn')
    await vi.waitFor(
      () =>
        expect(onError.mock.lastCall?.[0].cause).toMatchObject({ message: expect.stringContaining('JSON Web Key') }),
      10_000,
    )
    expect(keys.current()).toBe(key)
    const next = await rotateKeyFile({ file, now })
    await vi.waitFor(() => expect(keys.current().id).toBe(next.key.id), 10_000)
    expect(onError.mock.calls.every(([error]) => LadeError.has(error, 'auth_offline'))).toBe(true)
  })

  it('changes nothing after it is closed', async () => {
    const { key } = await openKeyFile({ file, now })
    const keys = new SigningKeys(key)
    watchKeyFile({ file, keys, intervalMs: 2 }).close()
    await rotateKeyFile({ file, now })
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(keys.current()).toBe(key)
  })
})
