import { Client } from 'pg'
import { describe, expect, test } from 'vitest'
import { openPlace, readStackName, s3Settings, startStack } from './stack.ts'

async function tables(url: string | undefined): Promise<unknown[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (
      await client.query({ text: "SELECT tablename FROM pg_tables WHERE schemaname = 'public'", rowMode: 'array' })
    ).rows
  } finally {
    await client.end()
  }
}

describe('a stack', () => {
  test('has one of four names', () => {
    expect(readStackName('postgres+disk')).toBe('postgres+disk')
    expect(() => readStackName('mysql+disk')).toThrow(TypeError)
  })

  test('of SQLite and disk needs nothing: the data directory is the place', async () => {
    const stack = await startStack('sqlite+disk')
    const place = await openPlace(stack, '/tmp/lade-one')
    expect(place.env).toEqual({})
    await place.discard()
    await stack.discard()
  })

  test('of PostgreSQL has a database for each data directory, the same one again, until it is discarded', async () => {
    const stack = await startStack('postgres+disk')
    try {
      const one = await openPlace(stack, '/tmp/lade-One')
      const other = await openPlace(stack, '/tmp/lade-Other')
      const client = new Client({ connectionString: one.env.LADE_DATABASE })
      await client.connect()
      await client.query('CREATE TABLE kept ()')
      await client.end()
      expect(await tables((await openPlace(stack, '/tmp/lade-One')).env.LADE_DATABASE)).toEqual([['kept']])
      expect(await tables(other.env.LADE_DATABASE)).toEqual([])
      await one.discard()
      await expect(tables(one.env.LADE_DATABASE)).rejects.toMatchObject({ code: '3D000' })
    } finally {
      await stack.discard()
    }
  })

  test('names a prefix of the bucket, and keeps the keys out of the URL', () => {
    const { LADE_STORAGE, ...credentials } = s3Settings(9000, 'one')
    expect(new URL(LADE_STORAGE ?? '').searchParams.get('endpoint')).toBe('http://127.0.0.1:9000')
    expect(new URL(LADE_STORAGE ?? '').pathname).toBe('/one')
    expect(Object.keys(credentials)).toEqual(['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'])
    expect(LADE_STORAGE).not.toContain(credentials.AWS_SECRET_ACCESS_KEY)
  })
})
