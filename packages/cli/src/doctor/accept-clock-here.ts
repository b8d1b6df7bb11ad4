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
      terminal.note('Nothing was changed. To continue, run the command again with --yes.')
      return false
    }
    return confirm(terminal, 'Do this?')
  })
  if (outcome === 'declined') throw new Ended(EXIT.failed)
  if (outcome === 'none') terminal.print('The service already trusts the clock. Nothing was changed.')
  else terminal.print('The clock is accepted. Running instances expire files again within seconds.')
}

function linesOf({ aheadMs, agreedMs, endsAt }: ClockDoubt): string[] {
  const time = (ms: number): string => new Date(ms).toISOString()
  return [
    aheadMs === 0
      ? `The service was stopped for a while. It last recorded the time ${time(agreedMs)}.`
      : `The system clock is at ${time(agreedMs + aheadMs)}. The service uses ${time(agreedMs)}.`,
    `If you continue, the service accepts the clock. It then expires the files whose terms ended between ${time(endsAt)} and now.`,
  ]
}
