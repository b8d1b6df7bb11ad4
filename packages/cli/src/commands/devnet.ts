import type { Command } from 'commander'
import type { Devnet } from '../devnet/devnet.ts'
import type { DevnetFacts } from '../devnet/devnet-facts.ts'
import { openDevnetFolder } from '../devnet/devnet-folder.ts'
import { shownLogLine } from '../devnet/log-lines.ts'
import { wholeNumberIn } from '../number-option.ts'
import { type Style, styleFor } from '../output/style.ts'
import { formatFacts } from '../output/table.ts'
import type { Terminal } from '../terminal.ts'
import { LocalError } from '../usage-error.ts'

const MAXIMUM_PROVERS = 8

interface DevnetFlags {
  readonly dir?: string
  readonly port: number
  readonly provers: number
  readonly proversMayEnd?: boolean
  readonly json?: boolean
}

/** `lade devnet`: a chain, provers and the service on this machine until SIGINT or SIGTERM, after which nothing of them is left. */
export function addDevnet(program: Command, terminal: Terminal): void {
  const command = program
    .command('devnet')
    .summary('Run a local chain, provers and the service.')
    .description(
      'Run a whole network on this machine: a chain with a test USDC and the marketplace, provers, the service, and a funded ' +
        'wallet to upload with. Every run starts from scratch; Ctrl-C stops everything.',
    )
    .option('--dir <folder>', 'Folder for all data, new or empty (default: a temporary folder, removed at the end).')
    .option('--port <number>', 'Port of the service; 0 picks a free one.', wholeNumberIn(0, 65_535), 0)
    .option('--provers <number>', 'Number of provers.', wholeNumberIn(1, MAXIMUM_PROVERS), 2)
    .option('--provers-may-end', 'Keep running when a prover exits, to see how the service reacts.')
    .option('--json', 'When ready, print one JSON object on one line.')
    .action(() => runDevnet(command, terminal))
}

async function runDevnet(command: Command, terminal: Terminal): Promise<void> {
  const { dir, port, provers: proverCount, proversMayEnd = false, json = false }: DevnetFlags = command.opts()
  // Before anything starts, so that a signal during the start is not lost.
  const signal = terminal.interruption()
  const printed = new Lines(terminal, json)
  const folder = await openDevnetFolder(dir, terminal.cwd)
  try {
    // Here, since the other commands need nothing of its weight.
    const { startDevnet } = await import('../devnet/devnet.ts')
    const onLogLine = (part: string, line: string) => printed.add(part, shownLogLine(line))
    const devnet = await startDevnet({ dir: folder.dir, port, proverCount, signal, onLogLine })
    try {
      if (json) terminal.print(JSON.stringify(devnet.facts))
      else
        for (const line of summaryOf(devnet.facts, folder.isTemporary, styleFor(terminal.stdout))) terminal.print(line)
      await stayUp(devnet, { proversMayEnd, signal, printed })
    } finally {
      if (!json) terminal.note('Stopping everything.')
      await devnet.stop()
    }
  } finally {
    await folder.close()
  }
}

interface StayUpOptions {
  readonly proversMayEnd: boolean
  readonly signal: AbortSignal
  readonly printed: Lines
}

/**
 * Shows what happens until the signal is aborted.
 *
 * @throws {LocalError} when a part ends that should not.
 */
async function stayUp({ facts, parts }: Devnet, { proversMayEnd, signal, printed }: StayUpOptions): Promise<void> {
  const { watchEvents } = await import('../devnet/marketplace-events.ts')
  const watching = new AbortController()
  const names = new Map(facts.provers.map(({ account, name }) => [account.toLowerCase(), name]))
  names.set(facts.operator.toLowerCase(), 'the service')
  const watched = watchEvents({
    rpcUrl: facts.chain.rpcUrl,
    marketplace: facts.marketplace,
    names,
    onLine: (line) => printed.add('The chain', line),
    signal: watching.signal,
  })
  const over = Promise.withResolvers<void>()
  signal.addEventListener('abort', () => over.resolve(), { once: true })
  if (signal.aborted) over.resolve()
  const proverNames = facts.provers.map(({ name }) => name)
  for (const { name, ended } of parts) {
    void ended.then((sentence) => {
      if (proversMayEnd && proverNames.includes(name)) printed.add(name, sentence)
      else over.reject(new LocalError(sentence))
    })
  }
  try {
    await over.promise
  } finally {
    watching.abort()
    await watched
  }
}

/** What happens, a line each with its time and where; nothing where a program reads. */
class Lines {
  readonly #terminal: Terminal
  readonly #isQuiet: boolean
  readonly #style: Style

  constructor(terminal: Terminal, isQuiet: boolean) {
    this.#terminal = terminal
    this.#isQuiet = isQuiet
    this.#style = styleFor(terminal.stdout)
  }

  add(part: string, text: string | undefined): void {
    if (this.#isQuiet || text === undefined) return
    const time = this.#terminal.now().toISOString().slice(11, 19)
    this.#terminal.print(`${this.#style.faint(time)}  ${part.padEnd(11)}  ${text}`)
  }
}

function summaryOf(facts: DevnetFacts, isTemporary: boolean, style: Style): string[] {
  const { service, chain, usdc, marketplace, provers, wallet, dir } = facts
  const known = formatFacts(
    [
      ['service', service.url],
      ['chain', `${chain.rpcUrl}, chain id ${chain.chainId}, a block every second`],
      ['marketplace', marketplace],
      ['USDC', `${usdc}, mintable by anyone`],
      ...provers.map(({ name, url, account }) => [name.toLowerCase(), `${url}, ${account}`] as [string, string]),
      ['wallet', `${wallet.address}, with 100 USDC; its key is in ${wallet.keyFile}`],
      ['folder', isTemporary ? `${dir}, removed at the end` : dir],
    ],
    style,
  )
  const account = `--url ${service.url} --wallet ${wallet.keyFile}`
  return [
    style.bold('The devnet is ready. Ctrl-C stops it.'),
    ...known,
    '',
    style.bold('Next, in another terminal:'),
    `  lade put ${account} FILE`,
    `  lade deals ${account}`,
    '',
  ]
}
