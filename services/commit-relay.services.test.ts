import { Client } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { type CommitRelay, startCommitRelay } from './commit-relay.ts'
import { type Postgres, startPostgres } from './postgres.ts'

describe('startCommitRelay', () => {
  let postgres: Postgres
  let relay: CommitRelay
  beforeAll(async () => {
    postgres = await startPostgres({ fsync: false })
    relay = await startCommitRelay(postgres.port)
  })
  afterAll(async () => {
    await relay?.discard()
    await postgres?.discard()
  })
  beforeEach(async () => {
    const client = await connected(postgres.port)
    await client.query('DROP TABLE IF EXISTS kept; CREATE TABLE kept (value integer)')
  })

  async function connected(port: number): Promise<Client> {
    const client = new Client({ host: '127.0.0.1', port, user: 'postgres', password: 'x', database: 'postgres' })
    client.on('error', () => {})
    await client.connect()
    onTestFinished(() => client.end())
    return client
  }
  async function insert(client: Client, value: number, commit: () => Promise<unknown>): Promise<void> {
    await client.query('BEGIN')
    await client.query('INSERT INTO kept VALUES ($1)', [value])
    await commit()
  }
  async function kept(): Promise<number[]> {
    const client = await connected(postgres.port)
    return (await client.query<{ value: number }>('SELECT value FROM kept ORDER BY value')).rows.map(
      ({ value }) => value,
    )
  }

  test('passes commits on until it is told otherwise', async () => {
    const client = await connected(relay.port)
    const before = relay.passed
    await insert(client, 1, () => client.query('COMMIT'))
    await insert(client, 2, () => client.query({ name: 'done', text: 'COMMIT' }))
    expect(await kept()).toEqual([1, 2])
    expect(relay.passed).toBe(before + 2)
  })

  test.each([
    ['before', []],
    ['after', [3]],
  ] as const)('cuts %s a commit: what is kept is %j, and the client hears nothing', async (cut, expected) => {
    const commits = [
      (client: Client) => client.query('COMMIT'),
      (client: Client) => client.query({ name: 'done', text: 'COMMIT' }),
    ]
    for (const commit of commits) {
      const client = await connected(relay.port)
      await client.query('TRUNCATE kept')
      const cutting = relay.cutNext(cut)
      await expect(insert(client, 3, () => commit(client))).rejects.toThrow()
      await cutting
      expect(await kept()).toEqual(expected)
    }
    const after = await connected(relay.port)
    await insert(after, 4, () => after.query('COMMIT'))
    expect(await kept()).toEqual([...expected, 4])
  })
})
