import { formatBytes } from '../output/amounts.ts'
import { printable } from '../output/printable.ts'

/** More would fill the terminal; `--json` has them all. */
const SHOWN_PROBLEMS = 20

/** What is wrong with one blob, as the end of the sentence "This blob …". */
export interface DescribedProblem {
  readonly sha256: string
  readonly sizeBytes: number
  readonly says: string
  /** The public file that is served from it, where there is one. */
  readonly file?: { readonly cid: string; readonly filename: string | null } | undefined
}

/** A heading and a line for each problem; nothing when there is none. */
export function problemLines(heading: string, problems: readonly DescribedProblem[]): string[] {
  if (problems.length === 0) return []
  const left = problems.length - SHOWN_PROBLEMS
  return [
    heading,
    ...problems.slice(0, SHOWN_PROBLEMS).map(lineOf),
    ...(left > 0 ? [`  and ${left.toLocaleString('en-US')} more; --json lists all.`] : []),
  ]
}

function lineOf({ sha256, sizeBytes, says, file }: DescribedProblem): string {
  const line = `  ${sha256} (${formatBytes(sizeBytes)}) ${says}`
  if (file === undefined) return line
  return printable(`${line}: ${[file.cid, file.filename].filter((name) => name !== null).join(' ')}`)
}
