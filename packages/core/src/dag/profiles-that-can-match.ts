import { DagLayout } from './dag-layout.ts'
import { IMPORT_PROFILES, type ImportProfileName } from './import-profile.ts'

/** The file whose import profile is looked for. */
export interface ProfilesInQuestion {
  /** Undefined while it is not known. */
  readonly sizeBytes: number | undefined
  readonly only?: ImportProfileName | undefined
}

/**
 * The import profiles under which a file of this size can have a dag-pb root, each different DAG once.
 *
 * Profiles with raw leaves drop out for a file of one chunk: its root is the raw leaf, whose CID is not dag-pb. Where two
 * profiles make the same DAG, the one that IPIP-0499 names stands for both.
 *
 * Of a file of unknown size, all that any size needs: every profile, or those that have the leaves of `only`.
 *
 * @param only - the one profile that is in question; what stands for it is answered, if any.
 * @throws {TypeError} when `sizeBytes` is no byte count.
 *
 * @example
 * profilesThatCanMatch({ sizeBytes: 11 }) // ['unixfs-v0-2015']
 * profilesThatCanMatch({ sizeBytes: 2 ** 30 }) // all four
 * profilesThatCanMatch({ sizeBytes: 2 ** 30, only: 'raw-1m-174' }) // ['raw-1m-174']
 */
export function profilesThatCanMatch({ sizeBytes, only }: ProfilesInQuestion): ImportProfileName[] {
  if (sizeBytes === undefined) return withLeavesOf(only)
  const layouts = Object.values(IMPORT_PROFILES)
    .map((profile) => new DagLayout(profile, sizeBytes))
    .filter(({ profile, leafCount }) => profile.leaves === 'dag-pb' || leafCount > 1)
  // The profiles of IPIP-0499 stand first in the table, so the first of two that agree is the one to keep.
  const asked = layouts.filter(({ profile }) => only === undefined || profile.name === only)
  return layouts
    .filter((layout, place) => !layouts.slice(0, place).some((earlier) => makeTheSameDag(earlier, layout)))
    .filter((layout) => asked.some((one) => one === layout || makeTheSameDag(one, layout)))
    .map(({ profile }) => profile.name)
}

function withLeavesOf(only: ImportProfileName | undefined): ImportProfileName[] {
  const asked = only && IMPORT_PROFILES[only]
  return Object.values(IMPORT_PROFILES)
    .filter(({ chunkBytes, leaves }) => !asked || (chunkBytes === asked.chunkBytes && leaves === asked.leaves))
    .map(({ name }) => name)
}

/** The same leaves under one root are the same DAG, however many more the root could take. */
function makeTheSameDag(one: DagLayout, other: DagLayout): boolean {
  const sameLeaves = one.profile.chunkBytes === other.profile.chunkBytes && one.profile.leaves === other.profile.leaves
  return sameLeaves && one.levels.length <= 2 && other.levels.length <= 2
}
