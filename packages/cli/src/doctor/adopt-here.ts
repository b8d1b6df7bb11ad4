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
      terminal.note('Nothing was changed. Run the command again with --yes to do it.')
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
  terminal.print('Records and objects are now one installation. The service can start.')
}

function linesOf(step: AdoptionStep, orphanDays: number): string[] {
  if (step.step === 'drop_log') {
    return [
      step.sentence,
      'If you continue, Lade copies the log and drops these transactions. Files that these transactions acknowledged are then missing from the records.',
    ]
  }
  const { problem, stock } = step
  const kept = orphanDays === 0 ? 'are kept' : `are kept for ${countOf(orphanDays, 'day')} and then removed`
  return [
    problem ?? 'Records and objects already belong together.',
    `The records list ${stock.known} of ${countOf(stock.known + stock.unknown, 'object')}.`,
    ...(stock.unknown > 0
      ? [`${countOf(stock.unknown, 'object')} not in the records ${kept}, unless the same bytes are uploaded.`]
      : []),
    ...(stock.missing > 0
      ? [
          `${countOf(stock.missing, 'file')} in the records have no object. They cannot be downloaded until they are uploaded again.`,
        ]
      : []),
    'If you continue, both get a new id, and no other service can use them. Nothing is removed now.',
  ]
}
