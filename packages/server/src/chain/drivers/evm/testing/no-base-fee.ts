import type { Relay, RelayedQuestion } from './relay.ts'

const METHOD_NOT_FOUND = -32601
const INVALID_PARAMS = -32602

/** Has a relay answer as a node of a chain without EIP-1559: no base fee in blocks, no priority fee, and transactions of the old form only. */
export function answerWithoutBaseFee(relay: Relay, nodeUrl: string): void {
  relay.answerBy(async ({ method, params }) => {
    if (method === 'eth_maxPriorityFeePerGas') return refusal(METHOD_NOT_FOUND, 'the method does not exist')
    if (method === 'eth_sendRawTransaction' && /^0x0/.test(String(params[0]))) {
      return refusal(INVALID_PARAMS, 'transaction type not supported')
    }
    if (method !== 'eth_getBlockByNumber') return undefined
    const { baseFeePerGas: _, ...block } = await askNode(nodeUrl, { method, params })
    return answerOf({ result: block })
  })
}

async function askNode(
  url: string,
  question: Pick<RelayedQuestion, 'method' | 'params'>,
): Promise<Record<string, unknown>> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, ...question })
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const { result }: { result?: unknown } = Object(await response.json())
  return { ...Object(result) }
}

function refusal(code: number, message: string) {
  return answerOf({ error: { code, message } })
}

function answerOf(of: object) {
  return { status: 200, body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...of }) }
}
