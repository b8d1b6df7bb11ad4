import type { Command } from 'commander'
import { EXIT } from '../exit-code.ts'
import type { Terminal } from '../terminal.ts'

/** `lade prover`: runs the reference prover until SIGTERM or SIGINT, drains, and ends with 0; a second signal ends it at once with 1. */
export function addProver(program: Command, terminal: Terminal): void {
  program
    .command('prover')
    .summary('Run the reference prover.')
    .description(
      'Run the reference prover: a storage provider for tests and demonstrations. It accepts pieces through the HTTP API of ' +
        'Curio, stores them and proves it. Its settings are environment variables: LADE_PROVER_HOST (127.0.0.1), ' +
        'LADE_PROVER_PORT (8090), LADE_PROVER_DIR (./prover-data), LADE_PROVER_ALLOW and LADE_PROVER_ALLOW_PRIVATE (hosts ' +
        'that it can pull pieces from; none), LADE_PROVER_FIND_DELAY_MS and LADE_PROVER_CONFIRM_DELAY_MS (5000), LADE_PROVER_PARK_HOURS (24). With ' +
        'LADE_PROVER_CHAIN_RPC, LADE_PROVER_MARKETPLACE and LADE_PROVER_KEY (none) it accepts and proves deals on a chain.',
    )
    .action(async () => {
      // What it holds is its own, also in a folder that others may enter.
      process.umask(0o077)
      // Here, since the other commands need nothing of its weight.
      const { runProver } = await import('@lade/prover')
      await runProver({ env: terminal.env, cwd: terminal.cwd, print: terminal.print })
      process.exit(EXIT.ok)
    })
}
