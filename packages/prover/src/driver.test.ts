import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openHttpProver } from '@lade/server/proving'
import { describeProver, type ProverUnderTest } from '@lade/server/testing/prover-conformance'
import { privateKeyToAccount } from 'viem/accounts'
import type { AnswerFault, PieceFault } from './faults.ts'
import { startProver } from './start-prover.ts'
import { makeTemporaryDir } from './testing/harness.ts'
import { synapseClient } from './testing/synapse-client.ts'

const SIGNER = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const PAYEE = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

/** Serves pieces under the path that provers read them from. */
async function startSource() {
  const pieces = new Map<string, Uint8Array>()
  const server = createServer((request, response) => {
    const bytes = pieces.get(request.url?.replace('/piece/', '') ?? '')
    response.writeHead(bytes === undefined ? 404 : 200, { 'content-length': bytes?.length ?? 0 })
    response.end(bytes)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    offer({ pieceCid, bytes }: { readonly pieceCid: string; readonly bytes: Uint8Array }): string {
      pieces.set(pieceCid, bytes)
      return `${origin}/piece/${pieceCid}`
    },
    async close(): Promise<void> {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function open(
  kind: 'reference' | 'curio' | 'curio-pull',
  additions: 'at once' | 'when settled',
): Promise<ProverUnderTest> {
  const { dir, remove } = await makeTemporaryDir()
  const source = await startSource()
  const clock = { offsetMs: 0 }
  const pieceFaults = new Map<string, PieceFault>()
  const answerFaults: AnswerFault[] = []
  let isRejecting = false
  const start = (port = 0) =>
    startProver({
      dir,
      port,
      findDelayMs: 20,
      confirmDelayMs: additions === 'at once' ? 20 : 3_600_000,
      drainMs: 100,
      privateHosts: ['127.0.0.1:*'],
      pull: { attempts: 2, retryDelayMs: 10 },
      now: () => Date.now() + clock.offsetMs,
      faults: {
        answer: ({ method, path }) =>
          method === 'POST' && path.startsWith('/pdp/data-sets') ? answerFaults.pop() : undefined,
        piece: (pieceCid) => pieceFaults.get(pieceCid),
        isRejected: () => isRejecting,
      },
    })
  let server = await start()
  const prover = openHttpProver({
    origin: server.url,
    kind,
    account: PAYEE,
    signer: SIGNER,
    retryDelayMs: 10,
    pollMs: 10,
    findMs: 5000,
  })
  return {
    prover,
    offer: source.offer,
    loseNextAnswer: () => void answerFaults.push({ kind: 'cut', when: 'after' }),
    async restart() {
      const port = Number(new URL(server.url).port)
      await server.close()
      server = await start(port)
    },
    settleAdditions(as) {
      isRejecting = as === 'rejected'
      clock.offsetMs += 3_600_000
    },
    spoil(pieceCid, how) {
      pieceFaults.set(pieceCid, how === 'lost' ? { kind: 'lost' } : { kind: 'flipped', offsetBytes: 30_000 })
    },
    vanish: () => server.close(),
    async storedCid(dataSetId, pieceId) {
      const { pieces } = await synapseClient(server.url).getDataSet(Number.parseInt(dataSetId, 10))
      return pieces.find((piece) => piece.pieceId === Number(pieceId))?.pieceCid
    },
    async countStored() {
      const client = synapseClient(server.url)
      let count = 0
      for (let id = 1; id < 10; id += 1) {
        const dataSet = await client.getDataSet(id).catch(() => undefined)
        count += dataSet?.pieces.length ?? 0
      }
      return count
    },
    async discard() {
      await server.close()
      await source.close()
      await remove()
    },
  }
}

describeProver('reference', { wrongBytes: 'refused', open: ({ additions }) => open('reference', additions) })
describeProver('curio', { wrongBytes: 'refused', open: ({ additions }) => open('curio', additions) })
describeProver('curio-pull', {
  wrongBytes: 'failed',
  isPulling: true,
  open: ({ additions }) => open('curio-pull', additions),
})
