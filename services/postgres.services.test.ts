import { existsSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Postgres, startPostgres } from './postgres.ts'

describe('startPostgres', () => {
  let postgres: Postgres
  const before = homes()
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(async () => {
    await postgres.discard()
    expect(homes().filter((home) => !before.includes(home))).toEqual([])
  })

  async function ask(url: string, sql: string): Promise<unknown[]> {
    const client = new Client({ connectionString: url })
    await client.connect()
    try {
      return (await client.query({ text: sql, rowMode: 'array' })).rows
    } finally {
      await client.end()
    }
  }

  test('gives databases that commit to disk, once each', async () => {
    const url = await postgres.createDatabase('first')
    await ask(url, 'CREATE TABLE kept (value integer)')
    expect(await postgres.createDatabase('first')).toBe(url)
    expect(await ask(url, 'SELECT count(*)::int FROM kept')).toEqual([[0]])
    expect(await ask(url, 'SHOW fsync')).toEqual([['on']])
    await postgres.dropDatabase('first')
    await expect(ask(url, 'SELECT 1')).rejects.toMatchObject({ code: '3D000' })
  })

  test('keeps what was committed through an immediate stop, and cuts its connections', async () => {
    const url = await postgres.createDatabase('second')
    const client = new Client({ connectionString: url })
    const cut = new Promise<Error>((resolve) => client.once('error', resolve))
    await client.connect()
    await client.query('CREATE TABLE kept AS SELECT 7 AS value')
    await client.query('BEGIN')
    await client.query('INSERT INTO kept VALUES (8)')
    await postgres.stopImmediately()
    expect(await cut).toBeInstanceOf(Error)
    await expect(ask(url, 'SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    await postgres.start()
    expect(postgres.log()).toContain('was not properly shut down')
    expect(await ask(url, 'SELECT value FROM kept')).toEqual([[7]])
  })
})

function homes(): string[] {
  return existsSync(tmpdir()) ? readdirSync(tmpdir()).filter((name) => name.startsWith('lade-postgres-')) : []
}
