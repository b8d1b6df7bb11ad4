import { open, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { isChecksummedAddress } from '@lade/core/wire'
import { type Command, InvalidArgumentError } from 'commander'
import { wholeNumberIn } from '../number-option.ts'
import { printable } from '../output/printable.ts'
import type { Terminal } from '../terminal.ts'
import { LocalError, UsageError } from '../usage-error.ts'
import { openWallet } from '../wallet/open-wallet.ts'

const DAY_SECONDS = 86_400
const MAXIMUM_SECONDS = 366 * DAY_SECONDS
/** Above it, JSON of other programs may lose digits. */
const MAXIMUM_DEAL_ID = Number.MAX_SAFE_INTEGER

type Address = `0x${string}`

interface DeployFlags {
  readonly rpc: string
  readonly key: string
  readonly usdc?: Address | 'test'
  readonly firstDeal: number
  readonly period: number
  readonly acceptance: number
  readonly seedDelay?: number
  readonly out: string
  readonly json?: boolean
}

/** `lade chain deploy`: the marketplace contract on a chain, and a file that says where it is. */
export function addChainDeploy(chain: Command, terminal: Terminal): void {
  const command = chain
    .command('deploy')
    .summary('Deploy the marketplace contract.')
    .description(
      'Deploy the marketplace contract, and write its addresses to a file that LADE_MARKETPLACE and LADE_PROVER_MARKETPLACE accept. ' +
        'Nobody owns the contract or can change it. Chains whose blocks have no usable randomness are refused.',
    )
    .requiredOption('--rpc <url>', 'JSON-RPC endpoint of the chain.', rpcUrl)
    .requiredOption(
      '--key <file>',
      'File with the private key, or keystore, of the account that pays for the deployment.',
    )
    .option(
      '--usdc <address>',
      'Token that deals are paid in. "test" deploys one that anyone can mint; this is the default on local chains.',
      tokenOf,
    )
    .option(
      '--first-deal <number>',
      'Number of the first deal, above all deals of the contract before.',
      wholeNumberIn(1, MAXIMUM_DEAL_ID),
      1,
    )
    .option('--period <seconds>', 'Proving period.', wholeNumberIn(1, MAXIMUM_SECONDS), DAY_SECONDS)
    .option(
      '--acceptance <seconds>',
      'How long a prover has to accept a deal.',
      wholeNumberIn(1, MAXIMUM_SECONDS),
      DAY_SECONDS,
    )
    .option(
      '--seed-delay <blocks>',
      'Blocks from the opening of a challenge to the block that draws its leaves (default: what the chain needs).',
      wholeNumberIn(1, 10_000),
    )
    .option('--out <file>', 'New file for the addresses.', 'marketplace.json')
    .option('--json', 'Print one JSON object.')
    .action(() => deploy(command, terminal))
}

async function deploy(command: Command, terminal: Terminal): Promise<void> {
  const flags: DeployFlags = command.opts()
  const account = await openWallet({ name: flags.key, from: '--key' }, terminal)
  // Here, since the other commands need nothing of its weight.
  const { deployMarketplace } = await import('../chain/deploy-marketplace.ts')
  const path = resolve(terminal.cwd, flags.out)
  const file = await newFile(path, flags.out)
  let facts: Awaited<ReturnType<typeof deployMarketplace>>
  try {
    facts = await deployMarketplace({ ...flags, account })
    await file.writeFile(facts.addressFile)
    await file.sync()
  } catch (error) {
    await file.discard()
    throw error
  } finally {
    await file.close()
  }
  if (flags.json) return terminal.print(facts.addressFile.trim())
  terminal.print(
    `The marketplace is at ${facts.marketplace} on chain ${facts.chainId}; its deals are paid in ${facts.usdc}.`,
  )
  terminal.print(
    `Set LADE_MARKETPLACE and LADE_PROVER_MARKETPLACE to ${printable(flags.out)}, and LADE_USDC to ${facts.usdc}.`,
  )
}

/** A file that was not there; opened before anything is deployed, so that no address is lost. */
async function newFile(path: string, name: string) {
  try {
    const file = await open(path, 'wx')
    return Object.assign(file, { discard: () => rm(path, { force: true }) })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'EEXIST') throw new UsageError(`${name} already exists. Choose another file with --out.`)
    throw new LocalError(`Cannot write ${path}.`, { cause: error })
  }
}

function rpcUrl(text: string): string {
  if (/^https?:\/\/[^\s#\\]+$/i.test(text) && URL.canParse(text)) return text
  throw new InvalidArgumentError('Expected an http or https URL.')
}

function tokenOf(text: string): Address | 'test' {
  if (text === 'test') return text
  const isOneCase = text === text.toLowerCase() || text.slice(2) === text.slice(2).toUpperCase()
  if (/^0x[0-9a-fA-F]{40}$/.test(text) && (isOneCase || isChecksummedAddress(text))) return text as Address
  throw new InvalidArgumentError('Expected an address (0x and 40 hex digits), or test.')
}
