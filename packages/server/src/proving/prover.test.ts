import { describeProver } from './conformance.ts'
import { openLocalProver } from './drivers/local/local-prover.ts'
import { openFakeProver } from './fake-prover.ts'

describeProver('local', {
  wrongBytes: 'unseen',
  async open() {
    const held = new Map<string, Uint8Array>()
    const prover = openLocalProver({
      async readPiece({ pieceCid }) {
        const bytes = held.get(pieceCid)
        if (bytes === undefined) return undefined
        return { sizeBytes: bytes.length, read: async (offset, length) => bytes.subarray(offset, offset + length) }
      },
    })
    return {
      prover,
      offer({ pieceCid, bytes }) {
        held.set(pieceCid, bytes)
        return `http://127.0.0.1/piece/${pieceCid}`
      },
      spoil(pieceCid, how) {
        const bytes = held.get(pieceCid)
        if (how === 'lost') held.delete(pieceCid)
        else held.set(pieceCid, bytes?.map((byte) => byte ^ 1) ?? new Uint8Array())
      },
    }
  },
})

describeProver('fake', {
  wrongBytes: 'refused',
  async open({ additions }) {
    const prover = openFakeProver()
    const { script } = prover
    if (additions === 'when settled') script.pendingTurns = Number.POSITIVE_INFINITY
    return {
      prover,
      offer: ({ pieceCid }) => `http://127.0.0.1/piece/${pieceCid}`,
      loseNextAnswer: () => {
        script.lostAnswers = 1
      },
      settleAdditions: (as) => prover.settle(as === 'rejected' ? 'reverted' : undefined),
      spoil(pieceCid, how) {
        if (how === 'lost') prover.lose(pieceCid)
        else script.liesAboutBytes = true
      },
      vanish: () => {
        script.isUnreachable = true
      },
      storedCid: async (dataSetId, pieceId) => prover.dataSets.get(dataSetId)?.[Number(pieceId)] ?? undefined,
      countStored: async () => [...prover.dataSets.values()].flat().filter((piece) => piece !== null).length,
    }
  },
})
