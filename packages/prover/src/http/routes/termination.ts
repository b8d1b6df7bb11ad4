import type { FastifyInstance } from 'fastify'
import * as z from 'zod'
import { Hex, readBody } from '../json-body.ts'
import { Refusal } from '../refusal.ts'
import type { ProverService } from '../service.ts'
import { findDataSet, txHashOf } from './data-sets.ts'

/** The chain has an epoch every 30 seconds. */
const EPOCH_MS = 30_000

const TerminateBody = z.object({ extraData: Hex.min(4) })

interface OfDataSet {
  readonly Params: { readonly id: string }
}

/** The end of a data set at its client's wish. Its pieces stay where they are. */
export function terminationRoutes(app: FastifyInstance, service: ProverService): void {
  const { dataSets } = service

  app.post<OfDataSet>('/pdp/data-sets/:id/terminate', async (request, reply) => {
    const { extraData } = readBody(TerminateBody, request.body)
    const { id, termination } = findDataSet(service, request.params.id)
    if (termination === null) {
      txHashOf(await dataSets.terminate(id, { extraData }))
      return reply.code(202).send()
    }
    const isOver = dataSets.isConfirmed(termination)
    const conflict = isOver
      ? { code: 0, message: 'already terminated', serviceTerminationEpoch: epochOf(termination.sentAt) }
      : { code: 1, message: 'termination queued', serviceTerminationEpoch: null }
    return reply.code(409).send(conflict)
  })

  app.get<OfDataSet>('/pdp/data-sets/:id/terminate', async (request) => {
    const { termination } = findDataSet(service, request.params.id)
    if (termination === null) throw new Refusal(404, 'Termination not found', { hasEventId: false })
    const { hash, sentAt } = termination
    if (!dataSets.isConfirmed(termination)) {
      return { terminationTxHash: hash, fwssTerminated: null, serviceTerminationEpoch: null }
    }
    const serviceTerminationEpoch = epochOf(sentAt)
    return { terminationTxHash: hash, confirmedTxHash: hash, fwssTerminated: true, serviceTerminationEpoch }
  })
}

function epochOf(timeMs: number): number {
  return Math.floor(timeMs / EPOCH_MS)
}
