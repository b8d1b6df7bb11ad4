export { MAX_LINKS } from './car/block-graph.ts'
export {
  type AnsweredBlock,
  answerOf,
  type BlockAnswer,
  type BlockQuestion,
  type BlockReader,
} from './car/block-reader.ts'
export { blockFinder, blocksOf, type CarBlock, type CarFault, type CarIndex } from './car/car-index.ts'
export { CarIndexer, type CarIndexerOptions, MAX_BLOCKS } from './car/car-indexer.ts'
export { carHeader, carSection } from './car/car-writer.ts'
export { DagReadError, type DagReadFault } from './car/dag-read-error.ts'
export type { Block, GetBlock } from './car/load-block.ts'
export { type FileRead, readUnixfsFile } from './car/read-unixfs-file.ts'
export { type ResolvedPath, resolvePath } from './car/resolve-path.ts'
export { type DagScope, type DagWalk, type EntityBytes, spanOf, walkDag } from './car/walk-dag.ts'
export * from './dag-hasher.ts'
export * from './dag-layout.ts'
export * from './encode-block.ts'
export * from './fold-leaves.ts'
export * from './import-profile.ts'
export * from './imported-dag.ts'
export { inlineBytes, type LinkBytes, type Links, type LinksFault, linkBytesOf, linksOf } from './links.ts'
export * from './profiles-that-can-match.ts'
export { type Sha256, type Sha256Stream, streamOf } from './sha256.ts'
export {
  readUnixfsNode,
  type UnixfsChild,
  type UnixfsEntry,
  type UnixfsFault,
  type UnixfsFileNode,
  type UnixfsNode,
  type UnixfsShard,
  type UnixfsShardLink,
} from './unixfs-file.ts'
export type { ChildRun, LinkCid } from './unixfs-node.ts'
