import { pino } from 'pino'
import type { ChainOptions, ProverOptions } from '../prover-options.ts'
import { startTestProver, type TestPiece } from './harness.ts'
import { synapseClient } from './synapse-client.ts'

const POLL_MS = 15

export interface FollowingOptions extends Partial<ProverOptions> {
  readonly pieces?: readonly TestPiece[]
  readonly settledPeriods?: bigint
}

/** A prover with some pieces that follows a chain, and ends with the test. */
export async function startFollowingProver(
  chain: ChainOptions,
  { pieces = [], settledPeriods, ...options }: FollowingOptions = {},
) {
  const prover = await startTestProver({ ...options, chain: { pollMs: POLL_MS, ...chain, settledPeriods } })
  for (const { pieceCid, bytes } of pieces) await synapseClient(prover.url).uploadPiece(pieceCid, bytes)
  return prover
}

/** A folder of a prover that holds some pieces before it follows a chain; it is gone after the test. */
export async function holdPieces(pieces: readonly TestPiece[]): Promise<string> {
  const prover = await startTestProver()
  for (const { pieceCid, bytes } of pieces) await synapseClient(prover.url).uploadPiece(pieceCid, bytes)
  await prover.close()
  return prover.dir
}

interface LogLine {
  readonly level: number
  readonly msg: string
  readonly contract?: string
  readonly dealId?: string
  readonly call?: string
  readonly reason?: string
  readonly count?: number
}

/** What a prover logs, by its sentences. */
export function readLog() {
  const lines: LogLine[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  return { lines, log }
}

/** The value of a metric of a prover, of all contracts together; its other labels belong to the name. */
export async function metricOf(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const lines = text.split('\n').map((line) => line.replace(/contract="0x[0-9a-f]{40}",?/, '').replace('{}', ''))
  const values = lines.filter((line) => line.startsWith(`${name} `)).map((line) => Number(line.slice(name.length + 1)))
  return values.reduce((sum, value) => sum + value, 0)
}
