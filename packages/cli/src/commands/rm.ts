import type { LadeClient } from '@lade/client'
import { LadeError } from '@lade/core/errors'
import type { Command } from 'commander'
import { addAccountOptions, connect } from '../account/connection.ts'
import { addWalletOptions } from '../account/wallet-options.ts'
import { Ended, EXIT, sentenceOf } from '../exit-code.ts'
import { countOf, formatBytes } from '../output/amounts.ts'
import { printable } from '../output/printable.ts'
import { problemOf } from '../problem.ts'
import { canAsk, confirm } from '../prompt.ts'
import type { Terminal } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'

interface RmFlags {
  readonly yes?: boolean
  readonly json?: boolean
}

/** `lade rm CID…`: removes files of mine. */
export function addRm(program: Command, terminal: Terminal): void {
  const command = program
    .command('rm')
    .summary('Remove your files.')
    .description("Remove your files. Downloads stop at once. Today's quota is not refunded.")
    .argument('<cids...>', 'ids of the files')
    .option('-y, --yes', 'Do not ask for confirmation. Required without a terminal.')
    .option('--json', 'Print one JSON array with an object per file. Needs --yes.')
    .action((cids: string[]) => rm(cids, command, terminal))
  addAccountOptions(command)
  addWalletOptions(command)
}

async function rm(cids: readonly string[], command: Command, terminal: Terminal): Promise<void> {
  const { yes, json }: RmFlags = command.opts()
  if (!yes && (json || !canAsk(terminal)))
    throw new UsageError('Cannot ask for confirmation without a terminal or with --json. Add --yes.')
  const { client } = await connect(command, terminal)
  const signal = terminal.interruption()
  if (!yes && !(await isMeant(cids, client, terminal))) {
    terminal.note('Nothing was removed.')
    throw new Ended(EXIT.failed)
  }

  const outcomes: Record<string, unknown>[] = []
  const failures: LadeError[] = []
  for (const cid of cids) {
    try {
      await client.files.remove(cid, { signal })
      outcomes.push({ cid, removed: true })
      if (!json) terminal.print(`Removed ${printable(cid)}.`)
    } catch (error) {
      if (!LadeError.is(error)) throw error
      failures.push(error)
      outcomes.push({ cid, removed: false, ...problemOf(error) })
      if (cids.length > 1) terminal.note(`${printable(cid)}: ${sentenceOf(error)}`)
    }
  }
  if (json) terminal.print(JSON.stringify(outcomes))
  const [failure] = failures
  if (failure === undefined) return
  if (cids.length > 1 || json) throw new Ended(EXIT.failed)
  throw failure
}

async function isMeant(cids: readonly string[], client: LadeClient, terminal: Terminal): Promise<boolean> {
  const [only] = cids
  if (cids.length > 1 || only === undefined) return confirm(terminal, `Remove ${countOf(cids.length, 'file')}?`)
  return confirm(terminal, `Remove ${await nameOf(only, client, terminal.interruption())}?`)
}

/** The file as its owner knows it, where the token may look; else the id. */
async function nameOf(cid: string, client: LadeClient, signal: AbortSignal): Promise<string> {
  try {
    const { filename, size } = await client.files.get(cid, { signal })
    return `${printable(filename ?? cid)} (${formatBytes(size)})`
  } catch (error) {
    if (LadeError.has(error, 'insufficient_scope')) return printable(cid)
    throw error
  }
}
