import type { MoveReport } from '@lade/server/moving'

/** The same for programs: what was not asked for is null. */
export function reportForPrograms(report: MoveReport, { dryRun = false }: { readonly dryRun?: boolean }) {
  const { wasDone = false, scan, blobs, tables, occupied, records, drift, setAside } = report
  return {
    dryRun,
    wasDone,
    blobs:
      scan === undefined
        ? null
        : {
            needed: scan.needed,
            there: blobs?.there ?? scan.there,
            ...(blobs === undefined ? { toCopy: scan.toCopy } : { copied: blobs.copied }),
            others: scan.others,
            problems: blobs?.problems ?? scan.problems,
          },
    records:
      tables === undefined
        ? null
        : {
            outcome: records?.outcome ?? null,
            tables,
            occupied: occupied ?? [],
            drift: drift ?? [],
            setAside: setAside ?? null,
          },
  }
}
