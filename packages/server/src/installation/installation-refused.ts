import type { SampleComparison } from './compare-samples.ts'

/** How the two sides are called in messages. */
export interface InstallationPlaces {
  /** Such as `/srv/lade/lade.db` or `the database lade at db.example`. */
  readonly records: string
  /** Such as `/srv/lade/objects` or `the bucket lade`. */
  readonly objects: string
}

/** Why records and objects are not used together. */
export type InstallationProblem =
  | { readonly kind: 'database_missing' }
  | { readonly kind: 'objects_missing' }
  | { readonly kind: 'records_without_id'; readonly objectsId: string }
  | { readonly kind: 'different_ids'; readonly recordsId: string; readonly objectsId: string }
  | { readonly kind: 'unknown_objects'; readonly samples: SampleComparison }
  | { readonly kind: 'rolled_back'; readonly recordsProgress: number; readonly objectsProgress: number }
  | { readonly kind: 'unreadable_document' }

/** Records and objects that do not belong together. The message is for the operator and complete on its own. */
export class InstallationRefused extends Error {
  override readonly name = 'InstallationRefused'
  readonly problem: InstallationProblem

  constructor(problem: InstallationProblem, places: InstallationPlaces) {
    super(`${describeProblem(problem, places)} Nothing was changed. ${WAY_OUT}`)
    this.problem = problem
  }
}

const WAY_OUT = 'Correct this, or run "lade doctor --adopt" to see what happens if you continue anyway.'

/** What is wrong and what probably happened, without what to do. */
export function describeProblem(problem: InstallationProblem, { records, objects }: InstallationPlaces): string {
  switch (problem.kind) {
    case 'database_missing':
      return `There is no database ${records}, but ${objects} contains objects of an installation. Probably LADE_DATA_DIR or LADE_DATABASE is wrong, or the database was lost.`
    case 'objects_missing':
      return `The objects of the records in ${records} are not in ${objects}. Probably the disk is not mounted, or LADE_STORAGE or LADE_DATA_DIR is wrong.`
    case 'records_without_id':
      return `The objects in ${objects} belong to installation ${shortId(problem.objectsId)}, but the records in ${records} belong to none. Probably LADE_DATABASE or LADE_STORAGE is wrong, or the database was lost.`
    case 'different_ids':
      return `The records in ${records} belong to installation ${shortId(problem.recordsId)}, but the objects in ${objects} belong to ${shortId(problem.objectsId)}. Probably LADE_DATABASE or LADE_STORAGE is wrong, or only one of them was restored.`
    case 'unknown_objects':
      return `The records in ${records} and the objects in ${objects} do not belong together: ${describeSamples(problem.samples)}. Probably LADE_DATABASE or LADE_STORAGE is wrong, or one of the two was lost.`
    case 'rolled_back':
      return `The records in ${records} are older than the objects in ${objects} (step ${problem.recordsProgress} instead of ${problem.objectsProgress}), so acknowledged changes are missing. Probably the log of the database was lost or damaged, a backup was restored, or an outdated standby took over.`
    case 'unreadable_document':
      return `The file installation.json in ${objects} is invalid. Probably it was damaged or edited.`
  }
}

function describeSamples({ stored, known, recorded, present }: SampleComparison): string {
  const parts = [
    ...(stored > 0 ? [`of ${stored} sampled objects, ${known} are in the records`] : []),
    ...(recorded > 0 ? [`of ${recorded} sampled records, ${present} have their object`] : []),
  ]
  return parts.join('; ')
}

/** Enough of an id to tell two apart. */
function shortId(id: string): string {
  return id.slice(0, 8)
}
