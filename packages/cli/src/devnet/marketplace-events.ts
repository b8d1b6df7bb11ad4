import { setTimeout as delay } from 'node:timers/promises'
import { marketplaceAbi } from '@lade/contracts'
import {
  BaseError,
  type ContractEventName,
  createClient,
  type GetContractEventsReturnType,
  http,
  publicActions,
} from 'viem'
import { formatBytes } from '../output/amounts.ts'
import { formatSeconds } from '../output/times.ts'

const POLL_MS = 500

type MarketplaceEvent = GetContractEventsReturnType<
  typeof marketplaceAbi,
  ContractEventName<typeof marketplaceAbi>,
  true
>[number]

export interface WatchEventsOptions {
  readonly rpcUrl: string
  readonly marketplace: string
  /** The names of accounts, by their addresses in lower case. */
  readonly names: ReadonlyMap<string, string>
  readonly onLine: (line: string) => void
  readonly signal: AbortSignal
}

/** Says in a line each what happens to the deals of a marketplace, in order, until the signal is aborted or the chain is gone. */
export async function watchEvents({ rpcUrl, marketplace, names, onLine, signal }: WatchEventsOptions): Promise<void> {
  const client = createClient({ transport: http(rpcUrl, { retryCount: 0 }), cacheTime: 0 }).extend(publicActions)
  const address = marketplace as `0x${string}`
  for (let next = 0n; !signal.aborted; ) {
    try {
      const latest = await client.getBlockNumber()
      if (latest >= next) {
        const range = { address, abi: marketplaceAbi, strict: true, fromBlock: next, toBlock: latest } as const
        for (const event of await client.getContractEvents(range)) {
          const sentence = sentenceOf(event, names)
          if (sentence !== undefined) onLine(sentence)
        }
        next = latest + 1n
      }
    } catch (error) {
      // The end of the chain is somebody else's to tell.
      if (error instanceof BaseError) return
      throw error
    }
    await delay(POLL_MS, undefined, { signal }).catch(() => undefined)
  }
}

/** Undefined for what is not worth a line. */
function sentenceOf(event: MarketplaceEvent, names: ReadonlyMap<string, string>): string | undefined {
  const nameOf = (address: string) => names.get(address.toLowerCase()) ?? address
  const deal = `deal ${event.args.dealId}`
  switch (event.eventName) {
    case 'DealProposed': {
      const { prover, pieceSize, duration, totalPayment } = event.args
      const size = formatBytes(Number(pieceSize))
      return `${deal} proposed to ${nameOf(prover)}: ${size} for ${formatSeconds(Number(duration))}, ${formatUsdc(totalPayment)}`
    }
    case 'DealAccepted':
      return event.args.bond === 0n
        ? `${deal} accepted`
        : `${deal} accepted with a bond of ${formatUsdc(event.args.bond)}`
    case 'DealWithdrawn':
      return `${deal} withdrawn, ${formatUsdc(event.args.refund)} back`
    case 'DealExtended':
      return `${deal} extended by ${formatSeconds(Number(event.args.extraDuration))} for ${formatUsdc(event.args.extraPayment)}`
    case 'PeriodProven':
      return `${deal} proved for period ${event.args.period}, ${formatUsdc(event.args.pay)} earned`
    case 'PeriodMissed':
      return `${deal} not proved for period ${event.args.period}, ${formatUsdc(event.args.refund)} back`
    case 'DealEnding':
      return `${deal} ends early, ${formatUsdc(event.args.refund)} back`
    case 'DealSlashed':
      return `${deal} slashed, ${formatUsdc(event.args.refund + event.args.forfeited)} back`
    case 'DealSettled':
      return `${deal} ended and settled`
    case 'Paid':
      return `${deal}: ${formatUsdc(event.args.pay + event.args.bond)} paid to ${nameOf(event.args.to)}`
    case 'BondReleased':
    case 'ChallengeOpened':
    case 'Skipped':
      return undefined
  }
}

/** @example formatUsdc(135_000n) // '0.135 USDC' */
function formatUsdc(microUsdc: bigint): string {
  const digits = String(microUsdc % 1_000_000n)
    .padStart(6, '0')
    .replace(/0+$/, '')
  return `${(microUsdc / 1_000_000n).toLocaleString('en-US')}${digits === '' ? '' : `.${digits}`} USDC`
}
