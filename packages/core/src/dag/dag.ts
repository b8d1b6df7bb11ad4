export { MAX_LINKS } from './car/block-graph.ts'
export {
  type AnsweredBlock,
  answerOf,
  type BlockAnswer,
  type BlockQuestion,
  type BlockReader,
} from './car/block-reader.ts'
export type { CarFault, CarIndex } from './car/car-index.ts'
export { CarIndexer, MAX_BLOCKS } from './car/car-indexer.ts'
export { CarLayout } from './car/car-layout.ts'
export { carHeader, carSection } from './car/car-writer.ts'
export { DagReadError } from './car/dag-read-error.ts'
export { linkAt } from './car/link-list.ts'
export type { Block } from './car/load-block.ts'
export { readUnixfsFile } from './car/read-unixfs-file.ts'
export { resolvePath } from './car/resolve-path.ts'
export { type NamedBlock, splitCar } from './car/split-car.ts'
export { type DagScope, type DagWalk, type EntityBytes, walkDag } from './car/walk-dag.ts'
export { type DirectoryEntry, walkDirectory } from './car/walk-directory.ts'
export { type TreeEntry, walkTree } from './car/walk-tree.ts'
export * from './dag-hasher.ts'
export * from './dag-layout.ts'
export { announcedDagBytes } from './directory/announced-dag-bytes.ts'
export { buildDirectory } from './directory/build-directory.ts'
export { changeDirectory, type DirectoryChange } from './directory/change-directory.ts'
export type { DirectoryEntry as PathEntry } from './directory/directory-entry.ts'
export * from './directory/directory-limits.ts'
export * from './encode-block.ts'
export * from './fold-leaves.ts'
export * from './import-profile.ts'
export * from './imported-dag.ts'
export * from './profiles-that-can-match.ts'
export { type Sha256, type Sha256Stream, streamOf } from './sha256.ts'
