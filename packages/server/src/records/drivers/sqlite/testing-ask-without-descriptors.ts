import { openSync } from 'node:fs'
import { openInstanceLocks } from './instance-locks.ts'

/**
 * A program: uses up the file descriptors that its limit allows, asks whether an instance is alive, and prints the answer.
 *
 * Its arguments are the folder of the locks and the instance.
 */
const [dir = '', instanceId = ''] = process.argv.slice(2)
const locks = openInstanceLocks({ dir })
// Loads SQLite while there are descriptors for it.
await locks.isHeld('nobody')
try {
  for (;;) openSync('/dev/null', 'r')
} catch (error) {
  if (!(error instanceof Error && 'code' in error && error.code === 'EMFILE')) throw error
}
const answer = await locks.isHeld(instanceId).then(
  (isHeld) => (isHeld ? 'alive' : 'dead'),
  (error: unknown) => `unknown: ${String(error)}`,
)
process.stdout.write(answer)
