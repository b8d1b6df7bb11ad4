import type { FastifyInstance } from 'fastify'
import type { ProverService } from '../service.ts'

/** What an operator's monitoring asks. Everything that it says about deals can be read from the chain as well. */
export function operationsRoutes(app: FastifyInstance, { deals, registry }: ProverService): void {
  app.get('/healthz', async () => ({ status: 'ok', ...(deals && { chain: chainHealthOf(deals) }) }))

  app.get('/metrics', async (_request, reply) => {
    const text = await registry.metrics()
    return reply.type(registry.contentType).send(text)
  })
}

function chainHealthOf({ state, waitingCalls, weiPerGas }: NonNullable<ProverService['deals']>) {
  return { state, waitingCalls, weiPerGas: weiPerGas === undefined ? null : String(weiPerGas) }
}
