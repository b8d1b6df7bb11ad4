import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ClientMessages, CommitWatch } from './postgres-messages.ts'

function message(type: string, body: string): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(4 + Buffer.byteLength(body))
  return Buffer.concat([Buffer.from(type), length, Buffer.from(body)])
}
const opening = message('', '\0\x03\0\0user\0lade\0\0')
const query = (sql: string): Buffer => message('Q', `${sql}\0`)
const parse = (name: string, sql: string): Buffer => message('P', `${name}\0${sql}\0\0\0`)
const bind = (name: string): Buffer => message('B', `\0${name}\0\0\0\0\0\0\0`)

describe('ClientMessages', () => {
  test('finds the same messages however the stream is cut', () => {
    const sent = [opening, query('BEGIN'), parse('', 'SELECT 1'), query('ÜBER; COMMIT'), message('X', '')]
    const stream = Buffer.concat(sent)
    fc.assert(
      fc.property(fc.array(fc.nat({ max: stream.length })), (cuts) => {
        const reader = new ClientMessages()
        const places = [0, ...cuts.toSorted((one, other) => one - other), stream.length]
        const messages = places.flatMap((start, index) => reader.push(stream.subarray(start, places[index + 1])))
        expect(messages.map(({ type }) => type)).toEqual(['', 'Q', 'P', 'Q', 'X'])
        expect(messages.map(({ bytes }) => bytes)).toEqual(sent)
      }),
    )
  })
})

describe('CommitWatch', () => {
  function commits(...sent: readonly Buffer[]): boolean[] {
    const watch = new CommitWatch()
    const messages = new ClientMessages().push(Buffer.concat([opening, ...sent])).slice(1)
    return messages.map((one) => watch.isCommit(one))
  }

  test('finds COMMIT as a query, in any case, and as the last of several', () => {
    expect(commits(query('COMMIT'), query(' commit'), query('UPDATE t SET a = 1; COMMIT'), query('END'))).toEqual([
      true,
      true,
      true,
      true,
    ])
  })

  test('finds COMMIT as a prepared statement where it is bound', () => {
    expect(commits(parse('', 'COMMIT'), bind(''), parse('', 'SELECT 1'), bind(''))).toEqual([false, true, false, false])
    expect(commits(parse('done', 'COMMIT'), bind('done'), bind('other'), bind('done'))).toEqual([
      false,
      true,
      false,
      true,
    ])
  })

  test('takes nothing else for one', () => {
    const others = [
      'BEGIN',
      'ROLLBACK',
      'SELECT commit FROM t',
      'INSERT INTO commits VALUES (1)',
      'COMMITTED',
      'SELECT end_at',
    ]
    expect(commits(...others.map(query))).toEqual(others.map(() => false))
  })
})
