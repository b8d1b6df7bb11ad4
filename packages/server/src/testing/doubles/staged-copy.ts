import { createHash } from 'node:crypto'
import { hashPiece } from '@lade/core/piece'
import { DAY_MS } from '@lade/core/time'
import type { RecordStore } from '../../records/record-store.ts'

/** A staged file whose piece one prover holds. */
export interface StagedCopy {
  readonly copy: number
  readonly file: number
  readonly pieceRoot: string
}

/** Stages a small file through the records, as an upload that a prover has taken does. */
export async function stageCopy(
  records: RecordStore,
  of: { readonly name: string; readonly prover: string; readonly now: number; readonly days: number },
): Promise<StagedCopy> {
  const { name, prover, now, days } = of
  const inline = Buffer.from(name)
  const sha256 = digestOf(name)
  const pieceRoot = Buffer.from(hashPiece(inline).root).toString('hex')
  const key = `sha256:${sha256}`
  const principal = 'user:alice'
  const sizeBytes = inline.length
  const outcome = await records.quotas.commitAtOnce({
    admit: { principal, day: '2026-11-21', key, sizeBytes, capBytes: 1e12, capFiles: 1e6, maxInFlight: 1_000, now },
    commit: {
      now,
      inline,
      content: { pieceRoot, pieceSubtreeRoots: new Uint8Array(), aliases: [], dags: [] },
      placement: {
        copiesWanted: 1,
        pieces: [{ pieceRoot, sizeBytes, object: sha256, offsetBytes: 0 }],
        parkedAt: [prover],
      },
      file: {
        principal,
        key,
        cid: sha256,
        sha256,
        sizeBytes,
        contentType: 'text/plain',
        filename: null,
        visibility: 'public',
        owner: null,
        sponsored: false,
        verified: true,
        termDays: days,
        uploadedAt: now,
        expiresAt: now + days * DAY_MS,
        dealId: `d-0x${sha256}`,
      },
    },
  })
  if (outcome.outcome !== 'recorded') throw new Error(`The upload ended as ${outcome.outcome}.`)
  const file = outcome.file.sequence
  const [deal] = await records.placements.deals([file])
  const copy = deal?.pieces[0]?.copies[0]?.id
  if (copy === undefined) throw new Error('The file has no copy.')
  return { copy, file, pieceRoot }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
