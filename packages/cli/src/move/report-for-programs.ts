import type { MoveReport } from '@lade/server/moving'

/** The same for programs: what was not asked for is null. */
export function reportForPrograms(report: MoveReport, { dryRun = false }: { readonly dryRun?: boolean }) {
  const { wasDone = false, survey, blobs, tables, occupied, records, drift, setAside } = report
  return {
    dryRun,
    wasDone,
    blobs:
      survey === undefined
        ? null
        : {
            needed: survey.needed,
            there: blobs?.there ?? survey.there,
            ...(blobs === undefined ? { toCopy: survey.toCopy } : { copied: blobs.copied }),
            others: survey.others,
            problems: blobs?.problems ?? survey.problems,
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
