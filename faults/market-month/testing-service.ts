/** A service whose clock its parent sets, by messages: its one argument is the time at the start, in epoch milliseconds. It prints its address. */
import { startLade } from '@lade/server'
import { readConfig } from '@lade/server/config'

let setMs = Number(process.argv[2])
let setAt = performance.now()
process.on('message', (ms) => {
  setMs = Number(ms)
  setAt = performance.now()
})
let newestMs = 0
/** Goes on between two messages, and never goes back. */
function now(): number {
  newestMs = Math.max(newestMs, Math.floor(setMs + performance.now() - setAt))
  return newestMs
}

const lade = await startLade(readConfig({ env: process.env }), { now })
process.stdout.write(`${lade.url}\n`)
process.once('SIGTERM', () => {
  void lade.close().then(() => process.exit(0))
})
