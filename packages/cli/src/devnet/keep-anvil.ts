/**
 * A process that has anvil for as long as it lives itself: anvil would not notice that whoever started it is gone.
 *
 * Prints one line of JSON: `{"rpcUrl","pid"}` once anvil answers, or `{"error"}` with a sentence.
 */
import { startAnvil } from '@lade/contracts/anvil'

const chainId = Number(process.argv[2])
const stopAsked = new Promise<void>((resolve) => process.on('SIGTERM', () => resolve()))
try {
  const anvil = await startAnvil({ chainId })
  console.log(JSON.stringify({ rpcUrl: anvil.rpcUrl, pid: anvil.pid }))
  const isAsked = await Promise.race([stopAsked.then(() => true), anvil.ended.then(() => false)])
  await anvil.stop()
  process.exit(isAsked ? 0 : 1)
} catch (error) {
  console.log(JSON.stringify({ error: error instanceof Error ? error.message : String(error) }))
  process.exit(1)
}
