/** What makes a UnixFS DAG of a file's leaves, and nothing that reads blocks: small enough for a browser's bundle. */
export * from './dag-layout.ts'
export * from './encode-block.ts'
export * from './fold-leaves.ts'
export * from './import-profile.ts'
export * from './imported-dag.ts'
export * from './profiles-that-can-match.ts'
export type * from './sha256.ts'
