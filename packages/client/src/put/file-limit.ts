import { LadeError } from '@lade/core/errors'
import type { InfoResult } from '@lade/core/wire'
import type { PutJob } from './job.ts'

/** Throws `too_large` for a size that the whole file may not have. */
export type CheckSize = (sizeBytes: number) => void

/**
 * Asks how large a file may be. The service would say so by itself, but only at the end, when all parts have been sent and
 * charged.
 */
export async function fileLimit({ http, group }: PutJob): Promise<CheckSize> {
  // What a wallet may put depends on what it holds, and is decided with every part.
  if (http.caller === 'wallet') return () => {}
  const info = await http.json<InfoResult>({ path: '/api/info', signal: group.signal })
  const limit = info.tiers[http.caller === 'token' ? 'token' : 'sponsored'].fileBytes
  return (size) => {
    if (size > limit) throw new LadeError('too_large', { limit, size })
  }
}
