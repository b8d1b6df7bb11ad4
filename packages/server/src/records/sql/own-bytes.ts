import type { ContentFacts, DagCommit, FileCommit } from '../record-store.ts'

/** Crossing to another thread copies the whole memory behind a view, so a view into a larger buffer is copied out first. */
export function ownCommit<Commit extends FileCommit>(commit: Commit): Commit {
  const inline = commit.inline === undefined ? undefined : ownBytes(commit.inline)
  const chunkDigests = commit.chunkDigests === undefined ? undefined : ownBytes(commit.chunkDigests)
  return { ...commit, inline, chunkDigests, content: ownFacts(commit.content) }
}

/** @throws {TypeError} for lists that do not fit together. */
export function ownFacts({ pieceRoot, pieceSubtreeRoots, aliases, dags }: ContentFacts): ContentFacts {
  return { pieceRoot, pieceSubtreeRoots: ownBytes(pieceSubtreeRoots), aliases, dags: dags.map(ownDag) }
}

function ownDag(dag: DagCommit): DagCommit {
  if (dag.kind === 'import') {
    if (dag.digests.length % 32 !== 0) throw new TypeError('The digests of an import have 32 bytes each.')
    return { kind: 'import', profile: dag.profile, digests: ownBytes(dag.digests) }
  }
  const { multihashes, multihashEnds, offsetBytes, sizeBytes } = dag
  const count = multihashEnds.length
  const isWholeList = offsetBytes.length === count && sizeBytes.length === count
  if (!isWholeList || (multihashEnds.at(-1) ?? 0) !== multihashes.length) {
    throw new TypeError('The lists of the blocks of a CAR have one entry for each.')
  }
  return {
    kind: 'car',
    multihashes: ownBytes(multihashes),
    multihashEnds: isWhole(multihashEnds) ? multihashEnds : multihashEnds.slice(),
    offsetBytes: isWhole(offsetBytes) ? offsetBytes : offsetBytes.slice(),
    sizeBytes: isWhole(sizeBytes) ? sizeBytes : sizeBytes.slice(),
  }
}

export function ownBytes(bytes: Uint8Array): Uint8Array {
  return isWhole(bytes) ? bytes : new Uint8Array(bytes)
}

function isWhole(view: ArrayBufferView): boolean {
  return view.byteLength === view.buffer.byteLength
}
