import { marketplaceV1Abi } from '@lade/contracts/marketplace-v1'
import { encodeEventTopics, parseEventLogs, type RpcLog } from 'viem'
import type { Address, DealEvent } from '../../chain.ts'
import { ask, chainOffline, type JsonRpc } from './json-rpc.ts'

const EVENTS = [
  'DealProposed',
  'DealAccepted',
  'DealExtended',
  'DealWithdrawn',
  'PeriodProven',
  'PeriodMissed',
  'DealSlashed',
  'DealSettled',
  'Paid',
] as const
const TOPICS = EVENTS.flatMap((eventName) => encodeEventTopics({ abi: marketplaceV1Abi, eventName }))

/** What a marketplace said in these blocks, oldest first. @throws {LadeError} `chain_offline`. */
export async function readDealEvents(
  rpc: JsonRpc,
  marketplace: Address,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<readonly DealEvent[]> {
  const filter = { address: marketplace, topics: [TOPICS], fromBlock: hexOf(from), toBlock: hexOf(to) }
  const logs = await ask(rpc, 'eth_getLogs', [filter])
  if (!Array.isArray(logs)) throw chainOffline(new Error('the node returned no list of events'))
  // A node that ignored the filter would have somebody else's contract speak.
  const own = logs.filter((log: RpcLog) => log.address.toLowerCase() === marketplace.toLowerCase())
  return parseEventLogs({ abi: marketplaceV1Abi, eventName: [...EVENTS], logs: own })
    .toSorted((a, b) => Number(a.blockNumber) - Number(b.blockNumber) || Number(a.logIndex) - Number(b.logIndex))
    .map(eventOf)
}

function eventOf(
  log: ReturnType<typeof parseEventLogs<typeof marketplaceV1Abi, true, (typeof EVENTS)[number][]>>[number],
) {
  const { dealId } = log.args
  switch (log.eventName) {
    case 'DealProposed':
      return { dealId, kind: 'proposed', client: log.args.client, microUsdc: log.args.totalPayment } as const
    case 'DealAccepted':
      return { dealId, kind: 'accepted', endsAt: Number(log.args.endsAt) * 1000 } as const
    case 'DealExtended': {
      const { extraDuration, extraPayment } = log.args
      return { dealId, kind: 'extended', extraMs: Number(extraDuration) * 1000, microUsdc: extraPayment } as const
    }
    case 'DealWithdrawn':
      return { dealId, kind: 'withdrawn', microUsdc: log.args.refund } as const
    case 'PeriodProven':
      return { dealId, kind: 'proven', microUsdc: log.args.pay } as const
    case 'PeriodMissed':
      return { dealId, kind: 'missed', microUsdc: log.args.refund } as const
    case 'DealSlashed':
      return { dealId, kind: 'slashed', microUsdc: log.args.refund } as const
    case 'DealSettled':
      return { dealId, kind: 'settled' } as const
    case 'Paid':
      return { dealId, kind: 'paid', to: log.args.to, microUsdc: log.args.amount } as const
  }
}

function hexOf(block: number): string {
  return `0x${block.toString(16)}`
}
