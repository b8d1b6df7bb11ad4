import type { CheckedChallenge } from '@lade/client'
import { LadeError } from '@lade/core/errors'
import type { Command } from 'commander'
import { addAccountOptions, connect } from '../account/connection.ts'
import { addWalletOptions } from '../account/wallet-options.ts'
import { Ended, EXIT } from '../exit-code.ts'
import { printable } from '../output/printable.ts'
import { styleFor } from '../output/style.ts'
import { formatFacts } from '../output/table.ts'
import { problemOf } from '../problem.ts'
import type { Terminal } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'

const MAXIMUM_NONCE = 128
/** What the piece CID alone does not show. */
const ON_ITS_WORD =
  'This check relies on the claim of the service that the piece is part of the file. For files up to 1,065,353,216 bytes, run "lade challenge" with the piece CID that "lade hash" prints.'

/** `lade challenge CID`: has it proved, here and now, that a file is held. Ends with 0 when it was, with 1 when it was not. */
export function addChallenge(program: Command, terminal: Terminal): void {
  const command = program
    .command('challenge')
    .summary('Request a proof that a file is stored.')
    .description(
      'Ask a prover to prove now that it stores a file, and check the proof on this machine. Exits with 1 if no valid proof arrives.',
    )
    .argument('<cid>', 'any id of the file. Use the piece CID to check the proof without trusting the service')
    .option(
      '--nonce <text>',
      'Text that decides which parts of the file the prover must prove, 1 to 128 characters (default: random).',
    )
    .option('--json', 'Print one JSON object, with the proof.')
    .action((cid: string) => challenge(cid, command, terminal))
  addAccountOptions(command)
  addWalletOptions(command)
}

async function challenge(cid: string, command: Command, terminal: Terminal): Promise<void> {
  const { nonce, json }: { nonce?: string; json?: boolean } = command.opts()
  if (nonce !== undefined && (nonce.length < 1 || nonce.length > MAXIMUM_NONCE)) {
    throw new UsageError(`--nonce must have 1 to ${MAXIMUM_NONCE} characters.`)
  }
  const { client } = await connect(command, terminal)
  try {
    const checked = await client.challenge(cid, { nonce, signal: terminal.interruption() })
    if (json) return terminal.print(JSON.stringify({ cid, held: true, ...checked }))
    for (const line of describe(cid, checked, terminal)) terminal.print(line)
    if (!checked.isPieceOfCid) terminal.note(ON_ITS_WORD)
  } catch (error) {
    if (!LadeError.has(error, 'unexpected_answer')) throw error
    if (json) terminal.print(JSON.stringify({ cid, held: false, ...problemOf(error) }))
    else terminal.print(`No valid proof that ${printable(cid)} is stored. ${printable(error.evidence.reason)}`)
    throw new Ended(EXIT.failed)
  }
}

function describe(cid: string, { answer, pieceCid }: CheckedChallenge, { stdout }: Terminal): string[] {
  const style = styleFor(stdout)
  return [
    `${style.bold(printable(cid))} is stored. The proof was checked on this machine.`,
    ...formatFacts(
      [
        ['prover', answer.prover],
        ['piece', pieceCid],
        ...(answer.inclusion === null ? [] : [['aggregate', answer.pieceCid] as const]),
        ['proof', `${answer.proofs.length} leaves of 32 bytes, selected by the nonce`],
        ['nonce', answer.nonce],
      ],
      style,
    ),
  ]
}
