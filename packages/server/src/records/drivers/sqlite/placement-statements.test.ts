import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { digestOf, fileCommitOf, NOW, pieceRootOf, upload } from '../../conformance/case.ts'
import { prepareWrites, type Writes } from '../../sql/writes.ts'
import type { Connection } from './connection.ts'
import { migrate } from './migrate.ts'
import { sqliteSql } from './sqlite-sql.ts'
import { type AtOnce, atOnce } from './testing-at-once.ts'

/** What placing costs those who do not place. */
describe('statements about placements', () => {
  let dir: string
  let connection: Connection
  let writes: AtOnce<Writes>
  const ran: string[] = []
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'lade-statements-'))
    connection = new Database(join(dir, 'lade.db'), { verbose: (sql) => ran.push(String(sql)) })
    migrate(connection)
    writes = atOnce(prepareWrites(sqliteSql(connection)))
  })
  afterEach(() => {
    connection.close()
    rmSync(dir, { recursive: true, force: true })
  })

  /** The statements that a write runs on tables of placements. */
  function ranBy(write: () => unknown): string[] {
    ran.length = 0
    write()
    return ran.filter((sql) => /\b(deals|deal_pieces|pieces|copies|cursors)\b/.test(sql))
  }

  function commit(content: string): void {
    const of = upload({ content })
    expect(writes['quotas.commitAtOnce']({ admit: of, commit: fileCommitOf(of, 'd-0x00') })).toMatchObject({
      outcome: 'recorded',
    })
  }

  const remove = (content: string) => () =>
    writes['files.remove']({ principal: upload().principal, key: `sha256:${digestOf(content)}`, now: NOW })

  test('an upload that is placed later runs none', () => {
    expect(ranBy(() => commit('one'))).toEqual([])
    expect(ranBy(() => commit('two'))).toEqual([])
    const of = upload({ content: 'three' })
    writes['quotas.reserve']({ ...of, reservationId: 'r' })
    const committed = ranBy(() => writes['quotas.commit']({ reservationId: 'r', ...fileCommitOf(of, 'd-0x01') }))
    expect(committed).toEqual([])
  })

  test('the end of a file runs one, and one more for the pieces when the file was enrolled', () => {
    commit('one')
    commit('two')
    const pieces = [{ pieceRoot: pieceRootOf('two'), sizeBytes: 100, object: digestOf('two'), offsetBytes: 0 }]
    writes['placements.enrol']({
      now: NOW,
      upTo: 2,
      enrolments: [{ file: 2, copiesWanted: 1, as: { kind: 'pieces', pieces } }],
    })
    expect(ranBy(remove('one'))).toEqual([expect.stringMatching(/^UPDATE deals SET closed_at/)])
    expect(ranBy(remove('two'))).toEqual([
      expect.stringMatching(/^UPDATE deals SET closed_at/),
      expect.stringMatching(/^UPDATE pieces SET unsettled_at/),
    ])
  })

  test('a copy that goes on without moving its deals writes none of them', () => {
    const members = Array.from({ length: 50 }, (_, index) => index + 1)
    for (const file of members) {
      const of = upload({ content: `file ${file}`, capBytes: 1e6 })
      writes['quotas.commitAtOnce']({ admit: of, commit: fileCommitOf(of, `d-0x${file}`) })
    }
    const enrolments = members.map((file) => ({ file, copiesWanted: 1, as: { kind: 'wait' } }) as const)
    writes['placements.enrol']({ now: NOW, upTo: 50, enrolments })
    const aggregate = { now: NOW, pieceRoot: pieceRootOf('all'), sizeBytes: 8_192 }
    const placed = members.map((file) => ({ file, paddedOffsetBytes: 128 * file }))
    expect(writes['placements.aggregate']({ ...aggregate, members: placed })).toBe(true)
    writes['placements.reconcile']({ piece: 1, add: ['north'], release: [], nextAt: null, failure: null, now: NOW })

    const moved = (write: () => unknown) => ranBy(write).filter((sql) => sql.startsWith('UPDATE deals')).length
    expect(moved(() => writes['placements.parked']({ copy: 1, now: NOW }))).toBe(1)
    const request = { prover: 'north', nonce: '', dataSetId: null, copies: [1], now: NOW }
    expect(moved(() => writes['placements.openAddition'](request))).toBe(0)
    const confirmed = { addition: 1, dataSetId: '1', pieceIds: ['1'], now: NOW }
    expect(moved(() => writes['placements.additionConfirmed'](confirmed))).toBe(0)
    const audit = { copy: 1, at: NOW, seed: '', passed: true, cause: null, proof: null }
    const audited = () => writes['placements.audited']({ audit, nextAt: NOW, isFinal: false, isRetrievable: false })
    expect([moved(audited), moved(audited)]).toEqual([1, 0])
  })
})
