import type { ServerResponse } from 'node:http'
import type { ObjectHandle } from '../records/record-store.ts'
import type { Service } from './service.ts'

/** Sends an object, and cuts the connection when it is taken down meanwhile: a download may take hours. */
export async function cutWhenBlocked(
  { moderation }: Pick<Service, 'moderation'>,
  response: ServerResponse,
  object: ObjectHandle,
  send: () => Promise<void>,
): Promise<void> {
  const done = moderation.content.whileServed(object, () => response.destroy())
  // What was sent to the kernel is on its way; what waits in this process goes on after `send`.
  response.once('close', done)
  if (response.destroyed) done()
  await send()
}
