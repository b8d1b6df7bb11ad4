/** How a file was cut into a UnixFS DAG; two profiles give the same bytes different CIDs. */
export interface ImportProfile {
  readonly name: ImportProfileName
  readonly chunkBytes: number
  /** The most children that an interior node has. */
  readonly linksPerNode: number
  /** Leaves as raw blocks, or wrapped as UnixFS file nodes. */
  readonly leaves: 'raw' | 'dag-pb'
}

/** `unixfs-v0-2015` and `unixfs-v1-2025` are IPIP-0499's; the others are what older defaults of kubo make. */
export type ImportProfileName = 'unixfs-v0-2015' | 'unixfs-v1-2025' | 'raw-256k-174' | 'raw-1m-174'

const KIB = 1024

/**
 * The profiles under which a dag-pb CID is looked for.
 *
 * @see https://github.com/ipfs/specs/blob/main/src/ipips/ipip-0499.md
 */
export const IMPORT_PROFILES: Readonly<Record<ImportProfileName, ImportProfile>> = {
  'unixfs-v0-2015': { name: 'unixfs-v0-2015', chunkBytes: 256 * KIB, linksPerNode: 174, leaves: 'dag-pb' },
  'unixfs-v1-2025': { name: 'unixfs-v1-2025', chunkBytes: 1024 * KIB, linksPerNode: 1024, leaves: 'raw' },
  'raw-256k-174': { name: 'raw-256k-174', chunkBytes: 256 * KIB, linksPerNode: 174, leaves: 'raw' },
  'raw-1m-174': { name: 'raw-1m-174', chunkBytes: 1024 * KIB, linksPerNode: 174, leaves: 'raw' },
}
