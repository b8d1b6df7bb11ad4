import { once } from 'node:events'
import type { Download, GetProgress } from '@lade/client'
import { LadeError } from '@lade/core/errors'
import type { Command } from 'commander'
import { addAccountOptions, connect } from '../account/connection.ts'
import { addWalletOptions } from '../account/wallet-options.ts'
import { Interrupted } from '../exit-code.ts'
import { formatBytes } from '../output/amounts.ts'
import { printable } from '../output/printable.ts'
import { createProgress, type Progress } from '../output/progress.ts'
import type { OutputStream, Terminal } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'

const STANDARD_OUTPUT = '-'

interface GetFlags {
  readonly output?: string
  readonly force?: boolean
  readonly json?: boolean
  readonly quiet?: boolean
}

/** `lade get CID`: fetches a file, checked against its id. */
export function addGet(program: Command, terminal: Terminal): void {
  const command = program
    .command('get')
    .summary('Fetch a file, checked against its id.')
    .description(
      'Fetch a file and check it against its content id. It lies beside its place as FILE.part-… until it is whole; a get that is repeated goes on with that.',
    )
    .argument('<cid>', 'any id of the file')
    .option(
      '-o, --output <file>',
      'The file or folder to write to; - is standard output, where bytes are written as they come, and only the exit code says whether they have the id.',
    )
    .option('-f, --force', 'Replace a file that is there.')
    .option('--json', 'Print one JSON object.')
    .option('-q, --quiet', 'Print nothing but errors.')
    .action((cid: string) => get(cid, command, terminal))
  addAccountOptions(command)
  addWalletOptions(command)
}

async function get(cid: string, command: Command, terminal: Terminal): Promise<void> {
  const flags: GetFlags = command.opts()
  const toStandardOutput = flags.output === STANDARD_OUTPUT
  if (toStandardOutput && flags.json)
    throw new UsageError('Standard output takes the file or the JSON object; leave out one of them.')
  const { client } = await connect(command, terminal, { isPatient: true })
  const signal = terminal.interruption()
  const progress = createProgress(terminal.stderr, { isQuiet: flags.quiet === true })
  const onProgress = showing(progress)
  try {
    if (toStandardOutput) {
      const download = await client.get(cid, { signal, onProgress })
      await writeTo(terminal.stdout, download.body)
      progress.stop()
      if (!download.verified) terminal.note(UNCHECKED)
      return
    }
    const { saveFile } = await import('../get/save-file.ts')
    const { cwd } = terminal
    const saved = await saveFile(client, cid, {
      cwd,
      output: flags.output,
      mayReplace: flags.force === true,
      signal,
      onProgress,
    })
    progress.stop()
    const { download, shown, resumedBytes } = saved
    const { sizeBytes, contentType, verified } = download
    if (flags.json) {
      terminal.print(JSON.stringify({ cid, file: shown, sizeBytes, contentType, verified, resumedBytes }))
    } else if (!flags.quiet) terminal.print(describe(shown, download, resumedBytes))
  } catch (error) {
    progress.stop()
    if (toStandardOutput && LadeError.has(error, 'cid_mismatch')) {
      terminal.note('What was written to standard output is not what was asked for; throw it away.')
    }
    if (!toStandardOutput && error instanceof Interrupted) {
      throw new Interrupted('What came is kept; the same command goes on from there.')
    }
    throw error
  } finally {
    progress.stop()
  }
}

const UNCHECKED = 'It could not be checked, since this id says nothing about the bytes.'

function describe(shown: string, { sizeBytes, verified }: Download, resumedBytes: number): string {
  const rest = resumedBytes === 0 ? '' : ` (${formatBytes(resumedBytes)} were there already)`
  const check = verified ? 'checked against its id.' : `not checked. ${UNCHECKED}`
  return `Saved ${printable(shown)}, ${formatBytes(sizeBytes)}${rest}, ${check}`
}

function showing(progress: Progress): (update: GetProgress) => void {
  return ({ sizeBytes, receivedBytes }) =>
    progress.show({ label: 'Receiving', doneBytes: receivedBytes, totalBytes: sizeBytes })
}

async function writeTo(stream: OutputStream, body: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of body) {
    if (!stream.write(chunk)) await once(stream, 'drain')
  }
}
