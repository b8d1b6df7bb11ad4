import { expect } from 'vitest'
import { audit } from './conformance/placing.ts'
import type { RecordStore } from './record-store.ts'

const FILE = 5
const PROOF = JSON.stringify({ count: 5, proofs: [] })
const seedOf = (at: number): string => at.toString(16).padStart(64, '0')

/** The schema that had a row for every audit, in either engine. */
export function beforeCopyAudits(migrations: readonly string[]): readonly string[] {
  return migrations.slice(
    0,
    migrations.findIndex((migration) => migration.includes('CREATE TABLE copy_audits')),
  )
}

function oldRows(copy: number, count: number): string {
  const rows = Array.from({ length: count }, (_, index) => {
    const at = 1000 * copy + index
    const outcome = index % 10 === 9 ? `0, 'late'` : '1, NULL'
    return `(${copy}, ${at}, '${seedOf(at)}', ${outcome}, '${PROOF}')`
  })
  return `INSERT INTO audits (copy, at, seed, passed, cause, proof) VALUES ${rows.join(', ')};`
}

/** A file with three copies: two were audited 30 times, and the last one 3 times, as the program of that time left them. */
export const OLD_AUDITS = `
  INSERT INTO objects (id, sha256, size_bytes, place) VALUES (60, 'aa', 127, 'none');
  INSERT INTO files (sequence, object, principal, name, cid, content_type, visibility, sponsored, verified, term_days, uploaded_at,
    expires_at, deal_id, charged_day, charged_bytes)
    VALUES (${FILE}, 60, 'user:alice', '', 'cid', 'text/plain', 'public', 0, 1, 7, 0, 9000000000000, 'd-0x00', '2026-11-21', 127);
  INSERT INTO usage (principal, day, bytes, files, stored_bytes, stored_files) VALUES ('user:alice', '2026-11-21', 127, 1, 127, 1);
  INSERT INTO pieces (id, object, offset_bytes, size_bytes, piece_root, revision, wanted, is_short, status)
    VALUES (70, 60, 0, 127, ROOT, 1, 1, 0, 'staged');
  INSERT INTO deals (file, copies_wanted, status, status_at, waits) VALUES (${FILE}, 3, 'active', 0, 0);
  INSERT INTO deal_pieces (file, position, piece, object, offset_bytes) VALUES (${FILE}, 0, 70, 60, 0);
  INSERT INTO copies (id, piece, prover, state, attempts, next_at, to_remove, onchain) VALUES
    (1, 70, 'a', 'stored', 0, 0, 0, 0), (2, 70, 'b', 'stored', 0, 0, 0, 0), (3, 70, 'c', 'stored', 0, 0, 0, 0);
  ${oldRows(1, 30)} ${oldRows(2, 30)} ${oldRows(3, 3)}`

/** Audits of an older version are shown and counted with new ones, before they are moved and after. */
export async function expectMovedAudits(store: RecordStore): Promise<void> {
  const audits = () => store.placements.audits({ file: FILE, limit: 100 })
  const before = await audits()
  expect(before.map(({ copy }) => copy)).toEqual([3, 3, 3, ...Array(30).fill(2), ...Array(30).fill(1)])
  expect(before.slice(3, 7)).toMatchObject([
    { at: 2029, passed: false, cause: 'late', seed: seedOf(2029), proof: Buffer.from(PROOF) },
    { at: 2028, passed: true, cause: null, seed: null, proof: null },
    { at: 2027 },
    { at: 2026 },
  ])

  await audit(store, 1, { at: 5000, seed: seedOf(5000), proof: Uint8Array.of(1, 0) })
  const [newest, ...others] = await audits()
  expect(newest).toMatchObject({ copy: 1, at: 5000, seed: seedOf(5000), proof: Buffer.from([1, 0]) })
  const ofFirst = others.filter(({ copy }) => copy === 1)
  expect(ofFirst.map(({ at }) => at)).toEqual(Array.from({ length: 29 }, (_, index) => 1029 - index))
  expect(ofFirst.every(({ seed, proof }) => seed === null && proof === null)).toBe(true)

  expect(await store.placements.moveOldAudits({ limit: 30 })).toBe(1)
  expect(await store.placements.moveOldAudits({ limit: 30 })).toBe(1)
  expect(await store.placements.moveOldAudits({ limit: 30 })).toBe(0)
  expect(await audits()).toEqual([newest, ...others])
}
