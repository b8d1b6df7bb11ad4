import type { ClockDoubt } from '@lade/server/accepting-clock'
import type { Config } from '@lade/server/config'
import { Ended, EXIT } from '../exit-code.ts'
import { canAsk, confirm } from '../prompt.ts'
import type { Terminal } from '../terminal.ts'

/** `lade doctor --accept-clock`: says what it means, asks, and does it. Ends with 1 when nobody agreed. */
export async function acceptClockHere(
  config: Config,
  { terminal, isAgreed }: { readonly terminal: Terminal; readonly isAgreed: boolean },
): Promise<void> {
  const { acceptClock } = await import('@lade/server/accepting-clock')
  // As the service does.
  process.umask(0o077)
  const outcome = await acceptClock(config, async (doubt) => {
    for (const line of linesOf(doubt)) terminal.print(line)
    if (isAgreed) return true
    if (!canAsk(terminal)) {
      terminal.note('Nothing was changed. Repeat this with --yes to do it.')
      return false
    }
    return confirm(terminal, 'Do this?')
  })
  if (outcome === 'declined') throw new Ended(EXIT.failed)
  if (outcome === 'none') terminal.print('The clock is not in doubt; nothing was changed.')
  else terminal.print('The clock is believed. Running instances end files again within seconds.')
}

function linesOf({ aheadMs, agreedMs, endsAt }: ClockDoubt): string[] {
  const time = (ms: number): string => new Date(ms).toISOString()
  return [
    aheadMs === 0
      ? `The service was stopped for some time: its time was ${time(agreedMs)} when it was last seen.`
      : `The clock says ${time(agreedMs + aheadMs)}; the service goes on with ${time(agreedMs)}.`,
    `Going on believes the clock, and ends every file whose term ended after ${time(endsAt)} and is over.`,
  ]
}
