import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Child, startChild } from '../../../../../../services/child.ts'
import { type Postgres, startPostgres, throughPort } from '../../../../../../services/postgres.ts'
import { until } from '../../../../../../services/until.ts'
import { recover } from '../../../upkeep/recover.ts'
import { NOW } from '../../conformance/case.ts'
import { openPostgresInstanceLocks } from './instance-locks.ts'
import { openPostgresRecordStore } from './postgres-record-store.ts'
import { startFreezingRelay } from './testing-freezing-relay.ts'

const HOLDER = fileURLToPath(new URL('./testing-lock-holder.ts', import.meta.url))
const GRACE_MS = 1500
const HEARTBEAT_MS = 200

let postgres: Postgres
let url: string
let locks: ReturnType<typeof openPostgresInstanceLocks>
const children: Child[] = []

beforeAll(async () => {
  postgres = await startPostgres({ fsync: false })
  url = await postgres.createDatabase('locks')
})
afterAll(() => postgres.discard())

beforeEach(() => {
  locks = openPostgresInstanceLocks({ url, graceMs: GRACE_MS, heartbeatMs: HEARTBEAT_MS })
})
afterEach(async () => {
  for (const child of children.splice(0)) await child.end('SIGKILL', 5000)
  await locks.close()
})

async function startHolder(instanceId: string): Promise<Child> {
  const child = startChild(process.execPath, [HOLDER, url, instanceId])
  children.push(child)
  await child.says(/held/, 20_000)
  return child
}

async function ask(sql: string): Promise<unknown[][]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query({ text: sql, rowMode: 'array' })).rows
  } finally {
    await client.end()
  }
}

/** How long it takes until the lock counts as free, in milliseconds; fails when `living` is ever taken for dead meanwhile. */
async function freeAfter(instanceId: string, living: string): Promise<number> {
  const since = performance.now()
  await until(`${instanceId} is dead`, 20_000, async () => {
    expect(await locks.isHeld(living)).toBe(true)
    return !(await locks.isHeld(instanceId))
  })
  return performance.now() - since
}

describe('locks of instances', () => {
  test('tell a process that was killed from one that lives, after the grace and not before', async () => {
    const [dying] = await Promise.all([startHolder('dying'), startHolder('living')])
    await until('the server is up for the grace', 10_000, async () => {
      const [row] = await ask('SELECT extract(epoch FROM now() - pg_postmaster_start_time())::float8 * 1000')
      return Number(row?.[0]) > GRACE_MS
    })
    expect(await locks.isHeld('dying')).toBe(true)
    await dying.end('SIGKILL', 5000)
    const tookMs = await freeAfter('dying', 'living')
    expect(tookMs).toBeGreaterThan(GRACE_MS - 100)
    expect(tookMs).toBeLessThan(GRACE_MS + 2000)
  })

  test('an instance that never held one is given the grace as well', async () => {
    expect(await locks.isHeld('nobody')).toBe(true)
    await sleep(GRACE_MS + 100)
    expect(await locks.isHeld('nobody')).toBe(false)
  })

  test('are kept across a restart of the server, though everybody asks all the time, also when it stops twice', async () => {
    await startHolder('living')
    const dying = await startHolder('dying')
    let asked = 0
    let failed = 0
    let isOver = false
    const asking = (async () => {
      while (!isOver) {
        try {
          expect(await locks.isHeld('living')).toBe(true)
          asked += 1
        } catch (error) {
          expect(error).toMatchObject({ code: 'storage_failed' })
          failed += 1
        }
        await sleep(5)
      }
    })()
    await postgres.stopImmediately()
    await dying.end('SIGKILL', 5000)
    await sleep(50)
    await postgres.start()
    await sleep(200)
    await postgres.stopImmediately()
    await postgres.start()
    await freeAfter('dying', 'living')
    isOver = true
    await asking
    expect(failed).toBeGreaterThan(0)
    expect(asked).toBeGreaterThan(0)
  })

  test('are taken again when their connection is ended', async () => {
    const held = await locks.hold('here')
    await ask("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'")
    await until('the lock is back', 5000, async () => (await ask(LOCKS)).length === 1)
    expect(await locks.isHeld('here')).toBe(true)
    await held.release()
    await until('the lock is gone', 1000, async () => (await ask(LOCKS)).length === 0)
  })

  test.each(['to server', 'to client'] as const)(
    'are taken again when their connection stands still %s',
    async (direction) => {
      const relay = await startFreezingRelay(postgres.port)
      const through = throughPort(url, relay.port)
      const far = openPostgresInstanceLocks({ url: through, heartbeatMs: HEARTBEAT_MS })
      const held = await far.hold('far')
      const [before] = await ask(LOCKS)
      relay.freeze(direction)
      await until('the lock is held anew', 5000, async () => (await ask(LOCKS)).some(([pid]) => pid !== before?.[0]))
      // Where the server heard nothing of the end of the first connection, that has the lock as well.
      await ask(`SELECT pg_terminate_backend(${before?.[0]})`)
      expect(await locks.isHeld('far')).toBe(true)
      await held.release()
      await far.close()
      await relay.discard()
    },
  )

  test('are let go of by release, also while their connection is away, and do not come back', async () => {
    const held = await locks.hold('here')
    await postgres.stopImmediately()
    await sleep(50)
    await held.release()
    await postgres.start()
    await sleep(1000)
    expect(await ask(LOCKS)).toEqual([])
    await held.release()
  })

  test('error: nobody is deregistered while the database is away, nor right after', async () => {
    const store = await openPostgresRecordStore({ url, timeouts: { readMs: 100, writeMs: 100 } })
    try {
      await store.instances.register({ instanceId: 'other', now: NOW })
      const isAlive = (instanceId: string): Promise<boolean> => locks.isHeld(instanceId)
      const round = () => recover({ records: store, blobs: undefined, instanceId: 'own', isAlive, now: () => NOW })
      await postgres.stopImmediately()
      await expect(locks.isHeld('other')).rejects.toMatchObject({ code: 'storage_failed' })
      await expect(round()).rejects.toMatchObject({ code: 'storage_failed' })
      await postgres.start()
      expect((await round()).deadInstances).toBe(0)
      expect(await store.instances.list()).toEqual(['other'])
    } finally {
      await store.close()
    }
  })
})

const LOCKS = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted"
