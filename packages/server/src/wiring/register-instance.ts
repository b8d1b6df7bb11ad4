import { LadeError } from '@lade/core/errors'
import { unlessUnwritable } from './hold-instance-lock.ts'
import type { OpenedData } from './open-data.ts'
import type { DriverSurroundings } from './open-drivers.ts'

/** Names this instance to the others that share the records, and has its end take the name away again. */
export async function registerInstance(
  { records, now }: Pick<OpenedData, 'records' | 'now'>,
  {
    instanceId,
    flush,
    log,
    closers,
  }: DriverSurroundings & { readonly instanceId: string; readonly flush: () => Promise<void> },
): Promise<void> {
  await unlessUnwritable(() => records.instances.register({ instanceId, now: now() }))
  closers.push(async () => {
    try {
      await flush()
      await records.instances.deregister({ instanceId, now: now() })
    } catch (error) {
      if (!LadeError.is(error)) throw error
      log.warn({ err: error }, 'could not deregister this instance; another one will clean up after it')
    }
  })
}
