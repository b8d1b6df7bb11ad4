import type { AdminJobs } from '@lade/core/wire'
import type { RecordStore } from '../records/record-store.ts'
import { readScrubMark, SCRUB_MARK } from '../upkeep/scrub-mark.ts'

const MOST_FINDINGS = 1000

type Deps = Pick<RecordStore, 'admin' | 'instances' | 'placements' | 'inventory' | 'integrity'>

/** What is done for all: leases, placing, removing, scrubbing, and what was found damaged. */
export async function readJobs(
  records: Deps,
  { provers, now }: { readonly provers: readonly string[]; readonly now: number },
): Promise<AdminJobs> {
  const counts = await records.placements.counts()
  const names = [...new Set([...provers, ...counts.copies.map(({ prover }) => prover)])]
  const mark = readScrubMark(await records.inventory.mark(SCRUB_MARK))
  const leases = await records.admin.leases()
  return {
    leases: leases.map(({ until, ...lease }) => ({ ...lease, until: timeText(until), isHeld: until > now })),
    instances: [...(await records.instances.list())],
    provers: names.map((name) => ({
      name,
      isConfigured: provers.includes(name),
      copies: Object.fromEntries(
        counts.copies.filter(({ prover }) => prover === name).map(({ state, count }) => [state, count]),
      ),
    })),
    deals: Object.fromEntries(counts.deals.map(({ status, count }) => [status, count])),
    waitingFiles: counts.waiting,
    removals: await records.admin.removals(),
    scrub:
      mark === undefined
        ? null
        : {
            startedAt: timeText(mark.startedAt),
            finishedAt: mark.finishedAt === undefined ? null : timeText(mark.finishedAt),
            blobs: mark.tally.blobs,
            bytes: mark.tally.bytes,
          },
    findings: (await records.integrity.damaged({ limit: MOST_FINDINGS })).map(({ object, kind, noticedAt }) => ({
      object,
      kind,
      noticedAt: timeText(noticedAt),
    })),
    findingsCount: await records.integrity.damagedCount(),
  }
}

function timeText(epochMs: number): string {
  return new Date(epochMs).toISOString()
}
