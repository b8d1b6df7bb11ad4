import { randomBytes } from 'node:crypto'
import { sha256Hex } from '@lade/node/hashing/sha256'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { databaseFileOf, type RunningService, runService } from '../testing/running/running-service.ts'
import { lookAtStoredBytes } from './stored-bytes.ts'

let service: RunningService
beforeAll(async () => {
  service = await runService()
})
afterAll(() => service.remove())

test('finds damaged small files in the records, beside a running service or without one, and changes nothing', async () => {
  const bytes = randomBytes(1000)
  await service.upload(bytes)
  await service.upload(randomBytes(2000))
  const look = () => lookAtStoredBytes(service.config, { withinMs: 10_000 })
  expect(await look()).toEqual({
    damaged: [],
    damagedCount: 0,
    checkedBytes: 3000,
    isComplete: true,
    withoutChunksCount: 0,
  })
  // A running service would meet the damage when it proves the file.
  await service.close()
  const database = new Database(databaseFileOf(service.config))
  database.prepare('UPDATE objects SET inline = ? WHERE sha256 = ?').run(randomBytes(1000), sha256Hex(bytes))
  for (let times = 0; times < 2; times += 1) {
    expect(await look()).toMatchObject({ damaged: [{ object: sha256Hex(bytes), kind: 'inline' }], damagedCount: 1 })
  }
  expect(database.prepare('SELECT COUNT(*) FROM damaged').pluck().get()).toBe(0)
  database.close()
})
