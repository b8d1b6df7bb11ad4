import type { AdoptionStep } from '@lade/server/adopting'
import type { Config } from '@lade/server/config'
import { Ended, EXIT } from '../exit-code.ts'
import { countOf } from '../output/amounts.ts'
import { canAsk, confirm } from '../prompt.ts'
import type { Terminal } from '../terminal.ts'
import { LocalError } from '../usage-error.ts'

/** `lade doctor --adopt`: says what adopting means, asks, and does it. Ends with 1 when nobody agreed. */
export async function adoptHere(
  config: Config,
  { terminal, isAgreed }: { readonly terminal: Terminal; readonly isAgreed: boolean },
): Promise<void> {
  const { adoptInstallation, AdoptRefused } = await import('@lade/server/adopting')
  // As the service does.
  process.umask(0o077)
  const agree = async (step: AdoptionStep): Promise<boolean> => {
    for (const line of linesOf(step, config.orphanDays)) terminal.print(line)
    if (isAgreed) return true
    if (!canAsk(terminal)) {
      terminal.note('Nothing was changed. To continue, run the command again with --yes.')
      return false
    }
    return confirm(terminal, 'Do this?')
  }
  const adopting = adoptInstallation(config, {
    agree,
    signal: terminal.interruption(),
    now: () => terminal.now(),
    onWarning: (sentence) => terminal.note(`Warning: ${sentence}`),
  })
  const { outcome, logCopy } = await adopting.catch((error: unknown) => {
    throw error instanceof AdoptRefused ? new LocalError(error.message) : error
  })
  if (logCopy !== undefined) terminal.print(`The damaged log was copied to ${logCopy}.`)
  if (outcome === 'declined') throw new Ended(EXIT.failed)
  terminal.print('The database and the file storage now belong together. The service can start.')
}

function linesOf(step: AdoptionStep, orphanDays: number): string[] {
  if (step.step === 'drop_log') {
    return [
      step.sentence,
      'If you continue, Lade copies the log and drops these transactions. Files that these transactions acknowledged are then missing from the database.',
    ]
  }
  const { problem, stock } = step
  const kept = orphanDays === 0 ? 'kept' : `kept for ${countOf(orphanDays, 'day')} and then removed`
  return [
    problem ?? 'The database and the file storage already belong together.',
    `The database lists ${stock.known} of ${countOf(stock.known + stock.unknown, 'stored file')}.`,
    ...(stock.unknown > 0
      ? [
          stock.unknown === 1
            ? `1 stored file is not in the database. It is ${kept}, unless the same bytes are uploaded.`
            : `${stock.unknown} stored files are not in the database. They are ${kept}, unless the same bytes are uploaded.`,
        ]
      : []),
    ...(stock.missing > 0
      ? [
          stock.missing === 1
            ? '1 file is in the database but not in the storage. It cannot be downloaded until it is uploaded again.'
            : `${stock.missing} files are in the database but not in the storage. They cannot be downloaded until they are uploaded again.`,
        ]
      : []),
    'If you continue, the database and the file storage get a new id, and no other service can use them. Nothing is removed now.',
  ]
}
