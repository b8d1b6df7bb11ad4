import { marketplaceAbi } from '@lade/contracts/marketplace'
import { marketplaceV1Abi } from '@lade/contracts/marketplace-v1'
import { encodeEventTopics, parseEventLogs, type RpcLog } from 'viem'
import type { Address, DealEvent } from '../../chain.ts'
import { ask, chainOffline, type JsonRpc } from './json-rpc.ts'

/** Events that both versions have with the same arguments. */
const SHARED_EVENTS = ['DealExtended', 'DealWithdrawn', 'PeriodProven', 'DealSettled'] as const
/** Events of one version, or with arguments of its own. */
const V1_EVENTS = ['DealProposed', 'DealAccepted', 'PeriodMissed', 'DealSlashed', 'Paid'] as const
const V2_EVENTS = [...V1_EVENTS, 'DealEnding'] as const
const TOPICS = [
  ...[...SHARED_EVENTS, ...V2_EVENTS].map((eventName) => encodeEventTopics({ abi: marketplaceAbi, eventName })),
  ...V1_EVENTS.map((eventName) => encodeEventTopics({ abi: marketplaceV1Abi, eventName })),
].flat()

type V1Log = ReturnType<typeof parseEventLogs<typeof marketplaceV1Abi, true, (typeof V1_EVENTS)[number][]>>[number]
type V2Log = ReturnType<
  typeof parseEventLogs<typeof marketplaceAbi, true, (typeof SHARED_EVENTS | typeof V2_EVENTS)[number][]>
>[number]
type Place = Pick<V1Log | V2Log, 'blockNumber' | 'logIndex'>

/** What a marketplace of any version said in these blocks, oldest first. @throws {LadeError} `chain_offline`. */
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
  // The topics of the versions differ where their arguments do.
  const ofV1 = parseEventLogs({ abi: marketplaceV1Abi, eventName: [...V1_EVENTS], logs: own })
  const ofV2 = parseEventLogs({ abi: marketplaceAbi, eventName: [...SHARED_EVENTS, ...V2_EVENTS], logs: own })
  return [
    ...ofV1.map((log) => ({ log: log as Place, event: eventOfV1(log) })),
    ...ofV2.map((log) => ({ log: log as Place, event: eventOfV2(log) })),
  ]
    .toSorted((a, b) => byPlace(a.log, b.log))
    .map(({ event }) => event)
}

/** The deals that were proposed to a contract in these logs, in their order. */
export function proposedIn(logs: readonly RpcLog[]): readonly bigint[] {
  const found = [
    ...parseEventLogs({ abi: marketplaceV1Abi, eventName: 'DealProposed', logs: [...logs] }),
    ...parseEventLogs({ abi: marketplaceAbi, eventName: 'DealProposed', logs: [...logs] }),
  ]
  return found.toSorted(byPlace).map(({ args }) => args.dealId)
}

function eventOfV1(log: V1Log): DealEvent {
  const { dealId } = log.args
  switch (log.eventName) {
    case 'DealProposed':
      return { dealId, kind: 'proposed', client: log.args.client, microUsdc: log.args.totalPayment }
    case 'DealAccepted':
      return { dealId, kind: 'accepted', endsAt: timeOf(log.args.endsAt), bondMicroUsdc: 0n }
    case 'PeriodMissed':
      return { dealId, kind: 'missed', microUsdc: log.args.refund }
    case 'DealSlashed':
      return { dealId, kind: 'slashed', microUsdc: log.args.refund }
    case 'Paid':
      return { dealId, kind: 'paid', to: log.args.to, microUsdc: log.args.amount, bondMicroUsdc: 0n }
  }
}

function eventOfV2(log: V2Log): DealEvent {
  const { dealId } = log.args
  switch (log.eventName) {
    case 'DealProposed':
      return { dealId, kind: 'proposed', client: log.args.client, microUsdc: log.args.totalPayment }
    case 'DealAccepted':
      return { dealId, kind: 'accepted', endsAt: timeOf(log.args.endsAt), bondMicroUsdc: log.args.bond }
    case 'DealExtended': {
      const { extraDuration, extraPayment } = log.args
      return { dealId, kind: 'extended', extraMs: Number(extraDuration) * 1000, microUsdc: extraPayment }
    }
    case 'DealWithdrawn':
      return { dealId, kind: 'withdrawn', microUsdc: log.args.refund }
    case 'DealEnding':
      return { dealId, kind: 'ending', endsAt: timeOf(log.args.endsAt) }
    case 'PeriodProven':
      return { dealId, kind: 'proven', microUsdc: log.args.pay }
    case 'PeriodMissed':
      return { dealId, kind: 'missed', microUsdc: log.args.refund }
    case 'DealSlashed':
      return { dealId, kind: 'slashed', microUsdc: log.args.refund }
    case 'DealSettled':
      return { dealId, kind: 'settled' }
    case 'Paid':
      return { dealId, kind: 'paid', to: log.args.to, microUsdc: log.args.pay, bondMicroUsdc: log.args.bond }
  }
}

function timeOf(seconds: bigint): number {
  return Number(seconds) * 1000
}

function byPlace(a: Place, b: Place): number {
  return Number(a.blockNumber) - Number(b.blockNumber) || Number(a.logIndex) - Number(b.logIndex)
}

function hexOf(block: number): string {
  return `0x${block.toString(16)}`
}
