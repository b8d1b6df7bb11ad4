import { pieceCidOf } from '@lade/core/content'
import { pieceCidV2 } from '@lade/core/piece'
import { type DealAudit, type DealProofs, leafProof } from '@lade/core/wire'
import { z } from 'zod'
import { dealIdsOf } from '../files/file-entry.ts'
import { inclusionOf, inclusionToJson } from '../placement/inclusion.ts'
import type { AuditRecord, FileRecord, RecordStore } from '../records/record-store.ts'

/** The most audits that one answer has. */
const MAX_AUDITS = 300

/** What provers have proved of a file: every audit that is kept, and, for a file in an aggregate, that it is in there. */
export async function dealProofs(records: RecordStore, file: FileRecord): Promise<DealProofs> {
  const { placements } = records
  const audits = await placements.audits({ file: file.sequence, limit: MAX_AUDITS })
  const [deal] = await placements.deals([file.sequence])
  const piece = deal?.pieces[0]
  const place = piece?.paddedOffsetBytes ?? null
  const inclusion =
    piece === undefined || place === null ? undefined : await inclusionOf(records, { piece, paddedOffsetBytes: place })
  return {
    ...dealIdsOf(file, deal),
    aggregate: inclusion === undefined ? null : pieceCidV2(inclusion.aggregate),
    inclusion: inclusion === undefined ? null : inclusionToJson(inclusion),
    audits: audits.map(auditEntryOf),
  }
}

function auditEntryOf(audit: AuditRecord): DealAudit {
  const { prover, pieceRoot, pieceSizeBytes, at, passed, cause, seed, proof } = audit
  return {
    prover,
    pieceCid: pieceCidOf({ pieceRoot, sizeBytes: pieceSizeBytes }),
    at: new Date(at).toISOString(),
    passed,
    cause,
    seed: `0x${seed}`,
    proofs: proof === null ? null : (KeptProof.safeParse(JSON.parse(proof)).data?.proofs ?? null),
  }
}

/** What is kept of an audit by proofs; one by reading has something else. */
const KeptProof = z.object({ proofs: z.array(leafProof) })
