import type { FileRecords } from '../records/record-store.ts'
import type { BlobProblem } from './scan-blobs.ts'

/** More are not looked up: whoever has so many has lost a disk, and not a file. */
const NAMED_AT_MOST = 1000

/** The same problems, each with the public file that is served from the blob where there is one. */
export async function nameProblems(
  files: Pick<FileRecords, 'serving'>,
  problems: readonly BlobProblem[],
  now: number,
): Promise<readonly BlobProblem[]> {
  const named: BlobProblem[] = []
  for (const problem of problems.slice(0, NAMED_AT_MOST)) {
    const serving = await files.serving({ key: `sha256:${problem.sha256}`, now })
    if (serving.outcome !== 'found') named.push(problem)
    else named.push({ ...problem, file: { cid: serving.file.cid, filename: serving.file.filename } })
  }
  return [...named, ...problems.slice(NAMED_AT_MOST)]
}
