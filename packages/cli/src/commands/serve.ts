import { isAbsolute, relative } from 'node:path'
import { stopSignal } from '@lade/node/process/stop-signal'
import type { Command } from 'commander'
import { EXIT } from '../exit-code.ts'
import { ALL_SETTINGS, addAllSettingOptions, configOf } from '../setting-options.ts'
import type { Terminal } from '../terminal.ts'

/** `lade serve`: runs the service until SIGTERM or SIGINT, drains, and ends with 0; a second signal ends it at once with 1. */
export function addServe(program: Command, terminal: Terminal): void {
  const command = program
    .command('serve')
    .summary('Run the staging service.')
    .description('Run the staging service. Every setting is a flag and an environment variable; the flag wins.')
    .action(() => serve(command, terminal))
  addAllSettingOptions(command)
}

async function serve(command: Command, terminal: Terminal): Promise<void> {
  const config = configOf(command, ALL_SETTINGS, terminal)
  // Private files and token records are the service's alone, also in a data directory that others may enter.
  process.umask(0o077)
  // Before the start, so that a signal during it is not lost and nothing is left half open.
  const stopAsked = stopSignal()
  // Here, since the other commands need nothing of the server's weight.
  const { growHeapSlowly } = await import('@lade/node/memory/grow-heap-slowly')
  const { keepThreadsSmall } = await import('@lade/node/memory/keep-threads-small')
  const { returnMemory } = await import('@lade/node/memory/return-memory')
  const { collectWhenQuiet } = await import('@lade/node/memory/collect-when-quiet')
  growHeapSlowly()
  keepThreadsSmall()
  returnMemory()
  collectWhenQuiet()
  const { isMember, startLade } = await import('@lade/server')
  const lade = await startLade(config)
  // Of several processes the first one speaks for all.
  if (!isMember) {
    terminal.print(`Lade is ready at ${lade.url} (data in ${shownPath(config.dataDir, terminal.cwd)})`)
    terminal.print(exampleUpload(lade.url))
  }
  await stopAsked
  await lade.close()
  process.exit(EXIT.ok)
}

/**
 * A line for the shell that uploads the five bytes of `hello` under their own sha2-256.
 *
 * @example
 * exampleUpload('http://127.0.0.1:8080') // "printf hello | curl …"
 */
export function exampleUpload(url: string): string {
  const cid = '$(printf hello | sha256sum | cut -c1-64)'
  return `printf hello | curl -sS -H 'Content-Type: text/plain' --data-binary @- "${url}/api/upload?cid=${cid}"`
}

/** Relative to the working directory where it lies in it. */
function shownPath(path: string, cwd: string): string {
  const fromHere = relative(cwd, path)
  return fromHere.startsWith('..') || isAbsolute(fromHere) ? path : `./${fromHere}`
}
