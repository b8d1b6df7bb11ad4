import { LadeError } from '@lade/core/errors'
import { StartError } from '@lade/node/settings'
import type { Config } from '../config/config.ts'
import { type Moderation, openModeration } from '../moderation/moderation.ts'
import type { RecordStore } from '../records/record-store.ts'
import type { DriverSurroundings } from './open-drivers.ts'

/** What the operator forbids, by the records and by denylists. @throws {StartError} for a denylist that cannot be read. */
export async function openBlocks(
  { denylists }: Config,
  { closers, ...options }: DriverSurroundings & { readonly records: RecordStore; readonly now: () => number },
): Promise<Moderation> {
  try {
    const moderation = await openModeration({ ...options, denylists })
    closers.push(() => moderation.close())
    return moderation
  } catch (error) {
    if (LadeError.is(error) || !(error instanceof Error)) throw error
    throw new StartError(`${error.message}.`.replace(/\.\.$/, '.'), { cause: error })
  }
}
