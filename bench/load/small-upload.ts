/**
 * Load process: uploads distinct small bodies over keep-alive connections.
 *
 * The content ids are computed before the clock starts. During it, each connection has one request buffer, in which
 * only the id and the stamp of the body change.
 *
 * Argument: {@link SmallUploadInput} as JSON. Prints {@link SmallUploadResult} as JSON.
 */
import { hash } from 'node:crypto'
import { seededBytes, stamp } from '../stamped-body.ts'
import { type LoadResult, loadConnections } from './connections.ts'

export interface SmallUploadInput {
  port: number
  /** Connection by connection, in turn. @default uploads without a token */
  tokens?: readonly string[]
  connections: number
  seconds: number
  sizeBytes: number
  /** Bodies of one seed are never equal to those of another. */
  seed: number
  /** The run ends early when this many bodies have been sent. */
  maxBodies: number
}

export interface SmallUploadResult extends LoadResult {
  /** Ids of the first and the last body sent: 64 hex digits, the sha2-256 of the body. */
  sentCids: [string, string]
}

const CID_LENGTH = 64

async function uploadSmall(input: SmallUploadInput): Promise<SmallUploadResult> {
  const cids = computeCids(input)
  const cidAt = (index: number) => cids.subarray(index * CID_LENGTH, (index + 1) * CID_LENGTH)
  const start = 'POST /api/upload?cid='
  const { tokens = [] } = input
  let opened = 0
  let sent = 0
  const result = await loadConnections({
    port: input.port,
    connections: input.connections,
    seconds: input.seconds,
    openConnection() {
      const token = tokens[opened % tokens.length]
      opened++
      const authorization = token === undefined ? '' : `Authorization: Bearer ${token}\r\n`
      const rest =
        ` HTTP/1.1\r\nHost: 127.0.0.1:${input.port}\r\n${authorization}` +
        `Content-Type: application/octet-stream\r\nContent-Length: ${input.sizeBytes}\r\n\r\n`
      const body = seededBytes(input.seed, input.sizeBytes)
      const request = Buffer.concat([Buffer.from(start + '0'.repeat(CID_LENGTH) + rest), body])
      const bodyInRequest = request.subarray(request.length - input.sizeBytes)
      return () => {
        if (sent === input.maxBodies) return undefined
        cidAt(sent).copy(request, start.length)
        stamp(bodyInRequest, sent)
        sent++
        return request
      }
    },
  })
  return { ...result, sentCids: [cidAt(0).toString('latin1'), cidAt(sent - 1).toString('latin1')] }
}

function computeCids({ seed, sizeBytes, maxBodies }: SmallUploadInput): Buffer {
  const cids = Buffer.alloc(maxBodies * CID_LENGTH)
  const body = seededBytes(seed, sizeBytes)
  for (let index = 0; index < maxBodies; index++) {
    stamp(body, index)
    cids.write(hash('sha256', body, 'hex'), index * CID_LENGTH, 'latin1')
  }
  return cids
}

console.log(JSON.stringify(await uploadSmall(JSON.parse(process.argv[2] ?? ''))))
