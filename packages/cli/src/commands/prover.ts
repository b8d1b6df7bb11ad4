import type { Command } from 'commander'
import { EXIT } from '../exit-code.ts'
import type { Terminal } from '../terminal.ts'

const SETTINGS_HELP = `
Environment variables (defaults in parentheses):
  LADE_PROVER_HOST, LADE_PROVER_PORT    Address to listen on (127.0.0.1:8090).
  LADE_PROVER_DIR                       Directory for the data (./prover-data).
  LADE_PROVER_ALLOW                     Hosts that pieces may be pulled from over
                                        https, at public addresses (default: none).
  LADE_PROVER_ALLOW_PRIVATE             Hosts that pieces may be pulled from over
                                        http or https, at public or private
                                        addresses (default: none). They need not be
                                        in LADE_PROVER_ALLOW.
  LADE_PROVER_FIND_DELAY_MS             Simulated delay until a new piece can be
                                        found and used, in milliseconds (5000).
  LADE_PROVER_CONFIRM_DELAY_MS          Simulated delay until a transaction is
                                        confirmed, in milliseconds (5000).
  LADE_PROVER_PARK_HOURS                How long a piece is stored while it is in
                                        no data set, in hours (24).
  LADE_PROVER_CHAIN_RPC,                Chain, contracts and account for onchain
  LADE_PROVER_MARKETPLACE,              deals (none). Set all three or none. Contracts
  LADE_PROVER_KEY                       are comma-separated: addresses, or paths of
                                        address files (*.json).
  LADE_PROVER_CHAIN_ID                  The only chain that is accepted (any).
  LADE_PROVER_LEAST_USDC_PER_GIB_DAY    The least pay of an accepted deal, in USDC
                                        per day and GiB of padded bytes (0.00005).
                                        0 also accepts unpaid deals.
  LADE_PROVER_CLIENTS                   Accounts whose deals are accepted (any).
  LADE_PROVER_BOND_MAX_USDC             The most USDC that is put up as bonds at a
                                        time (0: accept no deal with a bond).
  LADE_PROVER_TERM_MAX_DAYS             The longest term of an accepted deal (1830).
  LADE_PROVER_FEE_CAP_GWEI              The highest fee per unit of gas (500).
                                        Transactions wait while gas costs more.
  LADE_PROVER_BATCH_GAS                 The most gas of a transaction that serves many
                                        deals (16777216).
  LADE_PROVER_USDC_PER_COIN             The price in USDC of one coin that gas is
                                        paid in (none). With it, deals are proved
                                        only while they pay more than their gas.`

/** `lade prover`: runs the reference prover until SIGTERM or SIGINT, drains, and ends with 0; a second signal ends it at once with 1. */
export function addProver(program: Command, terminal: Terminal): void {
  program
    .command('prover')
    .summary('Run the reference prover.')
    .description(
      'Run the reference prover: a storage provider for tests and demonstrations. It accepts pieces through the HTTP API of ' +
        'Curio, stores them and proves that it stores them. Its settings are environment variables.',
    )
    .addHelpText('after', SETTINGS_HELP)
    .action(async () => {
      // What it holds is its own, also in a folder that others may enter.
      process.umask(0o077)
      // Here, since the other commands need nothing of its weight.
      const { runProver } = await import('@lade/prover')
      await runProver({ env: terminal.env, cwd: terminal.cwd, print: terminal.print })
      process.exit(EXIT.ok)
    })
}
