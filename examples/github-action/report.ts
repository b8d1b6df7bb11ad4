/**
 * Gives a workflow what `lade put --json` did: `node report.ts RESULTS NOTES STATUS`.
 *
 * Writes the outputs `files`, `cids` and `urls` to GITHUB_OUTPUT and a table to GITHUB_STEP_SUMMARY, and prints an error of
 * the workflow for every file that failed.
 */
import { randomUUID } from 'node:crypto'
import { appendFileSync, readFileSync } from 'node:fs'

interface Staged {
  readonly file: string
  readonly cid: string
  readonly retrievalUrl: string
  readonly size: number
}

interface Failed {
  /** Absent where nothing was begun. */
  readonly file?: string
  readonly detail: string
}

/** More rows are no help, and a summary has to stay under 1 MiB. */
const MOST_ROWS = 500

const [resultsPath = '', notesPath = '', status] = process.argv.slice(2)
const results = readFileSync(resultsPath, 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line): Staged | Failed => JSON.parse(line))
const staged = results.filter((result) => 'cid' in result).sort((a, b) => (a.file < b.file ? -1 : 1))
const failed = results.filter((result): result is Failed => !('cid' in result))
const notes = readFileSync(notesPath, 'utf8').trim()
const problems =
  failed.length > 0 || status === '0'
    ? failed.map(({ file, detail }) => (file === undefined ? detail : `${file}: ${detail}`))
    : [notes || `lade put ended with ${status}.`]

printUntouched([...staged.map(({ file, cid }) => `${cid}  ${file}`), notes].join('\n'))
for (const problem of problems) printError(problem)

const files = staged.map(({ file, cid, retrievalUrl, size }) => ({ file, cid, url: retrievalUrl, size }))
appendTo('GITHUB_OUTPUT', [
  output('files', JSON.stringify(files)),
  output('cids', files.map(({ cid }) => cid).join('\n')),
  output('urls', files.map(({ url }) => url).join('\n')),
])
appendTo('GITHUB_STEP_SUMMARY', [
  `### ${files.length} ${files.length === 1 ? 'file' : 'files'} uploaded to Lade`,
  '',
  ...tableOf(files.slice(0, MOST_ROWS)),
  ...(files.length > MOST_ROWS ? [`The output \`files\` has ${files.length - MOST_ROWS} more.`, ''] : []),
  ...problems.slice(0, MOST_ROWS).map((problem) => `- **Failed:** ${plain(problem)}`),
])

function tableOf(rows: typeof files): string[] {
  if (rows.length === 0) return []
  const lines = rows.map(({ file, size, cid, url }) => `| ${plain(file)} | ${size} | [${cid}](${url}) |`)
  return ['| file | bytes | cid |', '|---|---:|---|', ...lines, '']
}

/** Prints names of files, and what a service wrote, as text in which the runner looks for no commands. */
function printUntouched(text: string): void {
  const key = randomUUID()
  console.log(`::stop-commands::${key}\n${text}\n::${key}::`)
}

function printError(message: string): void {
  const escaped = message.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
  console.log(`::error title=Lade::${escaped}`)
}

/** An output between two lines that no value has, as values of several lines need. */
function output(name: string, value: string): string {
  const delimiter = randomUUID()
  return `${name}<<${delimiter}\n${value}\n${delimiter}`
}

/** Text in which nothing means anything to Markdown or HTML. */
function plain(text: string): string {
  return text.replace(/[^\p{L}\p{N} .,/-]/gu, (character) => `&#${character.codePointAt(0)};`)
}

function appendTo(variable: string, lines: readonly string[]): void {
  const path = process.env[variable]
  if (path === undefined) throw new Error(`${variable} is not set, so this is no runner`)
  appendFileSync(path, `${lines.join('\n')}\n`)
}
