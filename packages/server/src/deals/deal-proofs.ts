import { pieceCidOf } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import { pieceCidV2 } from '@lade/core/piece'
import { type DealAudit, type DealProofs, leafProof } from '@lade/core/wire'
import type { WorkBudget } from '@lade/node/budget/work-budget'
import { z } from 'zod'
import { dealIdsOf } from '../files/file-entry.ts'
import { CHALLENGES, isProvedAgain } from '../placement/audit.ts'
import { inclusionOf, inclusionToJson } from '../placement/inclusion.ts'
import { decodeProofs } from '../placement/kept-proof.ts'
import { proofJson } from '../placement/possession-json.ts'
import type { PossessionProof, Prover } from '../proving/prover.ts'
import type { AuditRecord, FileRecord, RecordStore } from '../records/record-store.ts'

/** The most audits that one answer has. */
const MAX_AUDITS = 300

export interface DealProofsDeps {
  readonly records: Pick<RecordStore, 'placements'>
  readonly provers: readonly Pick<Prover, 'name' | 'isLocal' | 'prove'>[]
  readonly budget: Pick<WorkBudget, 'isOver' | 'spend'>
}

/** The results of audits of a file, with the last proof of each copy; and, for a file in an aggregate, that it is in there. */
export async function dealProofs(deps: DealProofsDeps, file: FileRecord): Promise<DealProofs> {
  const { placements } = deps.records
  const audits = await placements.audits({ file: file.sequence, limit: MAX_AUDITS })
  const [deal] = await placements.deals([file.sequence])
  const piece = deal?.pieces[0]
  const place = piece?.paddedOffsetBytes ?? null
  const inclusion =
    piece === undefined || place === null
      ? undefined
      : await inclusionOf(deps.records, { piece, paddedOffsetBytes: place })
  return {
    ...dealIdsOf(file, deal),
    aggregate: inclusion === undefined ? null : pieceCidV2(inclusion.aggregate),
    inclusion: inclusion === undefined ? null : inclusionToJson(inclusion),
    audits: await Promise.all(
      audits.map(async (audit) => auditEntryOf(audit, await proofsOf(deps, audit, file.principal))),
    ),
  }
}

function auditEntryOf(audit: AuditRecord, proofs: DealAudit['proofs']): DealAudit {
  const { prover, at, passed, cause, seed } = audit
  return {
    prover,
    pieceCid: pieceCidOf(pieceOf(audit)),
    at: new Date(at).toISOString(),
    passed,
    cause,
    seed: seed === null ? null : `0x${seed}`,
    proofs,
  }
}

async function proofsOf(deps: DealProofsDeps, audit: AuditRecord, principal: string): Promise<DealAudit['proofs']> {
  const { proof } = audit
  if (proof === null) return (await provedAgain(deps, audit, principal))?.map(proofJson) ?? null
  return decodeProofs(proof)?.map(proofJson) ?? proofsOfOlderVersion(proof)
}

/** The proof of an audit that this process answered from its own bytes, while it has them. */
async function provedAgain(
  { provers, budget }: DealProofsDeps,
  audit: AuditRecord,
  principal: string,
): Promise<readonly PossessionProof[] | undefined> {
  const prover = provers.find(({ name }) => name === audit.prover)
  const piece = pieceOf(audit)
  if (audit.seed === null || !audit.passed || prover === undefined || !isProvedAgain(prover, piece)) return undefined
  if (budget.isOver(principal)) return undefined
  const question = { ...piece, pieceCid: pieceCidOf(piece), seed: Buffer.from(audit.seed, 'hex'), count: CHALLENGES }
  const onProcessorMs = (processorMs: number): void => budget.spend({ principal, work: 'challenge', processorMs })
  try {
    return await prover.prove(question, { onProcessorMs })
  } catch (error) {
    // The bytes are gone, or cannot be read now.
    if (LadeError.has(error, 'stage_failed')) return undefined
    throw error
  }
}

const pieceOf = ({ pieceRoot, pieceSizeBytes: sizeBytes }: AuditRecord) => ({ pieceRoot, sizeBytes })

function proofsOfOlderVersion(kept: Uint8Array): DealAudit['proofs'] {
  return OldProof.safeParse(JSON.parse(Buffer.from(kept).toString('utf8'))).data?.proofs ?? null
}

/** What an older version kept of an audit by proofs; one by reading has something else. */
const OldProof = z.object({ proofs: z.array(leafProof) })
