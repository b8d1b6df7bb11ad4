import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { digestOf, served, stage, upload } from '../../conformance/case.ts'
import { composed, stageParts, WHOLE_ROOT } from '../../conformance/composing.ts'
import type { RecordStore } from '../../record-store.ts'
import { openSqliteRecordStore } from './sqlite-record-store.ts'

describe('a row that leads to another object than it did', () => {
  let dir: string
  let store: RecordStore
  const open = () => openSqliteRecordStore({ file: join(dir, 'lade.db'), onFatal: () => {} })
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'lade-flipped-'))
    store = await open()
  })
  afterEach(async () => {
    await store.close()
    rmSync(dir, { recursive: true, force: true })
  })

  /** Changes rows as a flipped bit would, past the store. */
  const change = async (sql: string): Promise<void> => {
    await store.close()
    const db = new Database(join(dir, 'lade.db'))
    db.pragma('foreign_keys = OFF')
    db.unsafeMode()
    db.exec(sql)
    db.close()
    store = await open()
  }
  const isRefused = (asked: Promise<unknown>) => expect(asked).rejects.toMatchObject({ code: 'storage_failed' })
  const key = `dag-pb:${digestOf('root of one')}`
  const one = upload({ content: 'one', key, facts: { aliases: [{ key, view: 'bytes' }] } })

  test('is refused for a name that was verified, until the bytes are uploaded again', async () => {
    await stage(store, one)
    await stage(store, upload({ content: 'two' }))
    expect(await served(store, key)).toBe('one as bytes')
    await change('UPDATE aliases SET object = 2')
    await isRefused(served(store, key))
    expect(await served(store, `sha256:${digestOf('one')}`)).toBe('one as bytes')
    await stage(store, { ...one, principal: 'user:bob' })
    expect(await served(store, key)).toBe('one as bytes')
  })

  test('is refused when its checksum is what was flipped', async () => {
    await stage(store, one)
    await change("UPDATE aliases SET seal = 'x' || substr(seal, 2)")
    await isRefused(served(store, key))
    await stage(store, { ...one, principal: 'user:bob' })
    expect(await served(store, key)).toBe('one as bytes')
  })

  test('is refused for an opaque id', async () => {
    await stage(store, upload({ content: 'one', key: 'opaque:myfile' }))
    await stage(store, upload({ content: 'two', key: 'opaque:other' }))
    await change("UPDATE names SET object = 2 WHERE name = 'myfile'")
    await isRefused(served(store, 'opaque:myfile'))
    expect(await served(store, 'opaque:other')).toBe('two as bytes')
  })

  test('is refused for a part of a file', async () => {
    const parts = await stageParts(store, 3)
    const whole = await composed(store, parts)
    expect(await store.compositions.partsOf(whole.object)).toHaveLength(3)
    await change('UPDATE parts SET part = 3 WHERE position = 1')
    await isRefused(store.compositions.partsOf(whole.object))
    expect(await served(store, WHOLE_ROOT)).toBe('whole as bytes')
  })

  test('of an older version is sealed as it is', async () => {
    await stage(store, one)
    await stage(store, upload({ content: 'two', key: 'opaque:other' }))
    const parts = await stageParts(store, 2)
    const whole = await composed(store, parts)
    await change('UPDATE aliases SET seal = NULL; UPDATE names SET seal = NULL; UPDATE parts SET seal = NULL')
    expect(await served(store, key)).toBe('one as bytes')
    const first = { alias: '', name: '', whole: 0 }
    let place: typeof first | undefined = first
    for (let turns = 0; place !== undefined && turns < 20; turns += 1) {
      place = await store.integrity.sealRows({ after: place, limit: 2 })
    }
    expect(place).toBeUndefined()
    await change('UPDATE aliases SET object = 2; UPDATE names SET object = 1; UPDATE parts SET part = 1')
    await isRefused(served(store, key))
    await isRefused(served(store, 'opaque:other'))
    await isRefused(store.compositions.partsOf(whole.object))
  })
})
