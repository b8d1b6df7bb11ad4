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
  const database = records.startsWith('the database ') ? records : `the database ${records}`
  const Database = `T${database.slice(1)}`
  switch (problem.kind) {
    case 'database_missing':
      return `There is no database ${records}, but ${objects} contains files of an installation. LADE_DATA_DIR or LADE_DATABASE may be wrong, or the database may be lost.`
    case 'objects_missing':
      return `${Database} lists files that are not in ${objects}. The disk may not be mounted, or LADE_STORAGE or LADE_DATA_DIR may be wrong.`
    case 'records_without_id':
      return `The files in ${objects} belong to installation ${shortId(problem.objectsId)}, but ${database} has no installation id. LADE_DATABASE or LADE_STORAGE may be wrong, or the database may be lost.`
    case 'different_ids':
      return `${Database} belongs to installation ${shortId(problem.recordsId)}, but the files in ${objects} belong to ${shortId(problem.objectsId)}. LADE_DATABASE or LADE_STORAGE may be wrong, or only one of them was restored.`
    case 'unknown_objects':
      return `${Database} and the files in ${objects} do not belong together: ${describeSamples(problem.samples)}. LADE_DATABASE or LADE_STORAGE may be wrong, or one of the two may be lost.`
    case 'rolled_back':
      return `${Database} is older than the files in ${objects}: it has progress number ${problem.recordsProgress}, the files have ${problem.objectsProgress}. Acknowledged changes are missing. The log of the database may be lost or damaged, a backup may have been restored, or an outdated standby may have taken over.`
    case 'unreadable_document':
      return `The file installation.json in ${objects} is invalid. It may have been damaged or edited.`
  }
}

function describeSamples({ stored, known, recorded, present }: SampleComparison): string {
  const parts = [
    ...(stored > 0 ? [`of ${stored} sampled files, ${known} are in the database`] : []),
    ...(recorded > 0 ? [`of ${recorded} sampled records, ${present} have their file`] : []),
  ]
  return parts.join('; ')
}

/** Enough of an id to tell two apart. */
function shortId(id: string): string {
  return id.slice(0, 8)
}
