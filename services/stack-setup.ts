import { readStackName, startStack } from './stack.ts'

/** The variable under which the servers of a stack are handed to the processes that vitest starts, as JSON. */
export const STACK_SERVERS = 'LADE_TEST_STACK_SERVERS'

/**
 * vitest's `globalSetup`: starts the servers of the stack that `LADE_TEST_STACK` names once for the whole run. Without that
 * variable there is nothing to start: services keep what they have in their data directories.
 */
export default async function setup(): Promise<() => Promise<void>> {
  const name = process.env.LADE_TEST_STACK
  if (name === undefined) return async () => {}
  const { discard, ...servers } = await startStack(readStackName(name))
  process.env[STACK_SERVERS] = JSON.stringify(servers)
  return discard
}
