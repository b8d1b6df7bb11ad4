import { connect, type Socket } from 'node:net'
import type { Caller } from './caller.ts'
import type { Content } from './content.ts'

/** How a sender stops: says that nothing more comes, resets the connection, or just falls silent. */
export const CUTS = ['fin', 'rst', 'stall'] as const
export type Cut = (typeof CUTS)[number]

/** The head of an upload of `content`, as bytes on the wire. */
export function uploadHead(origin: URL, caller: Caller, content: Content): string {
  const lines = [
    `POST /api/upload?cid=${content.cid} HTTP/1.1`,
    `Host: ${origin.host}`,
    'Content-Type: application/octet-stream',
    `Content-Length: ${content.sizeBytes}`,
    ...Object.entries(caller.headers).map(([name, value]) => `${name}: ${value}`),
  ]
  return `${lines.join('\r\n')}\r\n\r\n`
}

/** A connection to the service, open. */
export function openSocket(origin: URL): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: origin.hostname, port: Number(origin.port), allowHalfOpen: true })
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject)
      resolve(socket)
    })
  })
}

/**
 * Sends the head and the first `sentBytes` of an upload, then stops as `cut` says.
 *
 * @returns what the service answered before the connection ended; nothing when it was reset.
 * @throws {Error} when the service leaves the connection open for more than 20 s.
 */
export async function cutUpload(
  origin: URL,
  options: { caller: Caller; content: Content; sentBytes: number; cut: Cut },
): Promise<string> {
  const { caller, content, sentBytes, cut } = options
  const socket = await openSocket(origin)
  const answer = answerUntilClose(socket)
  const body = content.bytes().subarray(0, sentBytes)
  await new Promise<void>((resolve) => {
    socket.write(uploadHead(origin, caller, content))
    // A service that has refused already may have closed: then there is nothing left to cut.
    socket.write(body, () => resolve())
  })
  if (cut === 'fin') socket.end()
  if (cut === 'rst') socket.resetAndDestroy()
  return answer
}

function answerUntilClose(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const late = setTimeout(() => {
      socket.destroy()
      reject(new Error(`The service keeps a dead upload open; it said: ${JSON.stringify(answer)}`))
    }, 20_000)
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString('latin1')
    })
    // A reset is one of the ways in which these connections end.
    socket.on('error', () => {})
    socket.on('end', () => socket.end())
    socket.on('close', () => {
      clearTimeout(late)
      resolve(answer)
    })
  })
}
