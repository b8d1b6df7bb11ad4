import { LadeError } from '@lade/core/errors'
import type { InfoResult, SessionState } from '@lade/core/wire'
import type { Http } from '../http/http.ts'
import type { PutJob } from './job.ts'

/** What the service allows this caller for a file that is sent in parts. */
export interface TierLimits {
  /** Rejects with `too_large` for a size that the whole file may not have. */
  readonly checkSize: (sizeBytes: number) => Promise<void>
  /** The term that parts ask for, which are composed soon or never; undefined where the service does not say what it grants. */
  readonly partDays: number | undefined
}

/** How long parts stay that are never composed; a put that is begun again in this time finds them. */
const PART_DAYS = 7
const PART_DAYS_OVER_DAYS = 30

/**
 * Asks what the service allows. It would say so by itself, but only at the end, when all parts have been sent and
 * charged.
 */
export async function tierLimits({ http, group, overDays }: PutJob): Promise<TierLimits> {
  const { tiers } = await http.json<InfoResult>({ path: '/api/info', signal: group.signal })
  const { fileBytes: limit, termDays } = tiers[http.caller === undefined ? 'sponsored' : 'token']
  return {
    checkSize: async (size) => {
      // What a wallet may put depends on what it holds, and is decided with every part.
      if (size <= limit || http.caller === 'wallet') return
      if (http.caller === 'session' && (await isOfWallet(http, group.signal))) return
      throw new LadeError('too_large', { limit, size })
    },
    partDays: termDays === undefined ? undefined : Math.min(overDays ? PART_DAYS_OVER_DAYS : PART_DAYS, termDays),
  }
}

/** True for the session of a wallet. */
async function isOfWallet(http: Http, signal: AbortSignal): Promise<boolean> {
  const { session } = await http.json<SessionState>({ path: '/api/session', signal })
  return session?.via === 'wallet'
}
