import { once } from 'node:events'
import { STATUS_CODES } from 'node:http'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AnswerFault, ProverFaults } from '../faults.ts'
import { Refusal } from './refusal.ts'

const FAULT = Symbol('fault')
type FaultyRequest = FastifyRequest & { [FAULT]?: AnswerFault }

/** Makes answers go wrong as told. @see AnswerFault */
export function addAnswerFaults(app: FastifyInstance, faults: ProverFaults, closing: AbortSignal): void {
  if (faults.answer === undefined) return
  app.addHook('onRequest', async (request: FaultyRequest, reply) => {
    const path = request.url.replace(/\?.*/s, '')
    const fault = faults.answer?.({ method: request.method, path })
    if (fault === undefined) return
    if (fault.kind === 'twice' || fault.when === 'after') request[FAULT] = fault
    else await strike(fault, request, reply, closing)
  })
  app.addHook('onSend', async (request: FaultyRequest, reply, payload: unknown) => {
    const fault = request[FAULT]
    if (fault === undefined) return payload
    // Refusing sends an answer, too.
    delete request[FAULT]
    if (fault.kind === 'twice') repeatAnswer(request, reply, payload)
    else if (fault.kind === 'refuse') return refuseInstead(fault, reply, payload)
    else await strike(fault, request, reply, closing)
    return payload
  })
}

type Struck = Exclude<AnswerFault, { kind: 'twice' }>

async function strike(
  fault: Struck,
  request: FastifyRequest,
  reply: FastifyReply,
  closing: AbortSignal,
): Promise<void> {
  const { socket } = request.raw
  if (fault.kind === 'late') await sleep(fault.delayMs, undefined, { signal: closing }).catch(() => {})
  if (fault.kind === 'refuse') throw refusalOf(fault)
  if (fault.kind !== 'cut' && fault.kind !== 'never') return
  // The framework goes no further with the request.
  if (fault.when === 'before') reply.hijack()
  if (fault.kind === 'cut') {
    socket.destroy()
    return
  }
  socket.setTimeout(0)
  if (!socket.destroyed) await once(socket, 'close')
}

function refusalOf({ status = 500, retryAfterSeconds }: Extract<AnswerFault, { kind: 'refuse' }>): Refusal {
  const message = STATUS_CODES[status] ?? 'Refused'
  return new Refusal(status, message, retryAfterSeconds === undefined ? {} : { retryAfterSeconds })
}

function refuseInstead(fault: Extract<AnswerFault, { kind: 'refuse' }>, reply: FastifyReply, payload: unknown): string {
  if (payload instanceof Readable) payload.destroy()
  const { status, text, retryAfterSeconds } = refusalOf(fault)
  for (const name of Object.keys(reply.getHeaders())) reply.removeHeader(name)
  if (retryAfterSeconds !== undefined) reply.header('retry-after', retryAfterSeconds)
  reply
    .code(status)
    .header('content-type', 'text/plain; charset=utf-8')
    .header('content-length', Buffer.byteLength(text))
  return text
}

/** Behind the answer, on the same connection, where the caller takes it for the answer to what it asks next. */
function repeatAnswer(request: FastifyRequest, reply: FastifyReply, payload: unknown): void {
  if (payload instanceof Readable) return
  const body = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload : ''
  const { socket } = request.raw
  reply.raw.on('finish', () => {
    const headers = {
      ...reply.getHeaders(),
      ...(reply.statusCode !== 204 && { 'content-length': Buffer.byteLength(body) }),
    }
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(`HTTP/1.1 ${reply.statusCode} ${STATUS_CODES[reply.statusCode]}\r\n${lines.join('')}\r\n`)
    socket.write(body)
  })
}
