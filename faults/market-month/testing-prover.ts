/** A reference prover until it is killed: its one argument is the JSON of {@link MonthProverOptions}. It prints its address. */
import { SecretString } from '@lade/node/settings'
import { startProver } from '@lade/prover'
import { pino } from 'pino'

/** What a prover of the month is started with. */
export interface MonthProverOptions {
  readonly dir: string
  /** 0 for any; a prover that starts again keeps its own. */
  readonly port: number
  readonly rpcUrl: string
  readonly marketplace: `0x${string}`
  readonly privateKey: string
  /** In units of 10⁻⁶ USDC, as text. */
  readonly mostBond: string
}

const options: MonthProverOptions = JSON.parse(process.argv[2] ?? '')
const { dir, port, rpcUrl, marketplace, privateKey, mostBond } = options
const prover = await startProver({
  dir,
  port,
  findDelayMs: 0,
  confirmDelayMs: 0,
  log: pino({ level: 'warn' }, pino.destination({ fd: 2, sync: true })),
  chain: {
    rpcUrl: new SecretString(rpcUrl),
    marketplaces: [marketplace],
    privateKey: new SecretString(privateKey),
    limits: { mostBond: BigInt(mostBond) },
    pollMs: 20,
    // A few blocks, as a minute is elsewhere.
    raiseAfterMs: 1_000,
  },
})
process.stdout.write(`${prover.url}\n`)
