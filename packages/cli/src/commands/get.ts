import { once } from 'node:events'
import { resolve } from 'node:path'
import type { Download, GetProgress, LadeClient } from '@lade/client'
import { LadeError } from '@lade/core/errors'
import type { Command } from 'commander'
import { addAccountOptions, connect } from '../account/connection.ts'
import { addWalletOptions } from '../account/wallet-options.ts'
import { Interrupted } from '../exit-code.ts'
import { readFileLink } from '../get/file-link.ts'
import { type FoundNode, findNode } from '../get/find-node.ts'
import { safeName } from '../get/safe-name.ts'
import { countOf, formatBytes } from '../output/amounts.ts'
import { printable } from '../output/printable.ts'
import { createProgress, type Progress } from '../output/progress.ts'
import { retryNotes } from '../output/retry-notes.ts'
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
    .summary('Download a file or a folder and verify it against its id.')
    .description(
      'Download a file or a folder and verify it against its content id. Files of a folder that are there already are not downloaded again. Until it is complete, the name of the file ends in .part-…; run the command again to resume it.',
    )
    .argument('<cid>', 'any id of the file, ipfs://CID, or its retrieval URL; CID/path for what is in a folder')
    .option(
      '-o, --output <file>',
      'File or folder to write to (default: the working directory, under the name that the file was uploaded with). What is in a folder is written into this folder, which is created. - is standard output. Bytes go to standard output before they are verified, so check the exit code.',
    )
    .option('-f, --force', 'Replace existing files.')
    .option('--json', 'Print one JSON object.')
    .option('-q, --quiet', 'Print only errors.')
    .action((named: string) => get(named, command, terminal))
  addAccountOptions(command)
  addWalletOptions(command)
}

async function get(named: string, command: Command, terminal: Terminal): Promise<void> {
  const flags: GetFlags = command.opts()
  const toStandardOutput = flags.output === STANDARD_OUTPUT
  if (toStandardOutput && flags.json)
    throw new UsageError('Use -o - or --json, not both: only one can use standard output.')
  const { cid: root, path, serviceUrl, share } = readFileLink(named)
  const isQuiet = flags.quiet === true
  const progress = createProgress(terminal.stderr, { isQuiet })
  const onRetry = retryNotes({ terminal, progress, isQuiet })
  const { client } = await connect(command, terminal, { onRetry, linkUrl: serviceUrl })
  const signal = terminal.interruption()
  const onProgress = showing(progress)
  try {
    const node =
      share === undefined ? await findNode(client, { cid: root, path }, signal) : { kind: 'file' as const, cid: root }
    if (node.kind === 'folder') {
      await getFolder(client, node, { named: path?.split('/').at(-1) ?? root, flags, progress }, terminal)
      return
    }
    const { cid } = node
    const name = path?.split('/').at(-1)
    if (toStandardOutput) {
      const download = await client.get(cid, { share, signal, onProgress })
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
      name: name === undefined ? undefined : safeName(name, cid),
      mayReplace: flags.force === true,
      share,
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
      terminal.note('The bytes written to standard output are wrong. Discard them.')
    }
    if (!toStandardOutput && error instanceof Interrupted) {
      throw new Interrupted('The partial download is saved. Run the same command again to resume.')
    }
    throw error
  } finally {
    progress.stop()
  }
}

interface GetFolder {
  /** What it is called where nothing else says it. */
  readonly named: string
  readonly flags: GetFlags
  readonly progress: Progress
}

async function getFolder(
  client: LadeClient,
  { cid, nodes }: Extract<FoundNode, { kind: 'folder' }>,
  { named, flags, progress }: GetFolder,
  terminal: Terminal,
): Promise<void> {
  if (flags.output === STANDARD_OUTPUT) {
    throw new UsageError(`${cid} is a folder. Name a folder to write it to with -o, or a file in it.`)
  }
  const { saveFolder } = await import('../get/save-folder.ts')
  const { cwd, platform } = terminal
  const shown = flags.output ?? safeName(named, cid)
  const saved = await saveFolder(client, nodes, {
    target: resolve(cwd, shown),
    mayReplace: flags.force === true,
    platform,
    signal: terminal.interruption(),
    onProgress: ({ files, doneFiles, bytes }) => {
      const remark = `${doneFiles.toLocaleString('en-US')} of ${countOf(files, 'file')}`
      progress.show({ label: 'Receiving', doneBytes: bytes, remark })
    },
  })
  progress.stop()
  const { files, bytes, fetchedFiles, remarks } = saved
  for (const remark of remarks) terminal.note(remark)
  if (flags.json) {
    terminal.print(JSON.stringify({ cid, folder: shown, files, bytes, fetchedFiles, verified: true, remarks }))
  } else if (!flags.quiet) {
    const there = files === fetchedFiles ? '' : ` (${countOf(files - fetchedFiles, 'file')} were already downloaded)`
    terminal.print(
      `Saved ${printable(shown)}, ${countOf(files, 'file')}, ${formatBytes(bytes)}${there}, verified against its id.`,
    )
  }
}

const UNCHECKED = 'Not verified: this id cannot be checked against the bytes.'

function describe(shown: string, { sizeBytes, verified }: Download, resumedBytes: number): string {
  const rest = resumedBytes === 0 ? '' : ` (${formatBytes(resumedBytes)} were already downloaded)`
  const check = verified ? 'verified against its id.' : `not verified: this id cannot be checked against the bytes.`
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
