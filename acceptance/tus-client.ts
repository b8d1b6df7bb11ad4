import { createHash } from 'node:crypto'
import { type Answer, type Caller, headerOf } from './caller.ts'

export type Headers = Record<string, string | undefined>

export const OFFSET_STREAM = 'application/offset+octet-stream'

/** `Upload-Metadata` of some pairs. */
export function metadataOf(pairs: Readonly<Record<string, string>>): string {
  return Object.entries(pairs)
    .map(([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`.trim())
    .join(',')
}

export function checksumOf(bytes: Uint8Array, algorithm = 'sha1'): string {
  return `${algorithm} ${createHash(algorithm).update(bytes).digest('base64')}`
}

/** Requests of tus 1.0.0, each as its specification has it, with more or other headers. */
export class TusClient {
  readonly caller: Caller

  constructor(caller: Caller) {
    this.caller = caller
  }

  create(headers: Headers, body?: Uint8Array): Promise<Answer> {
    const ofBody = body === undefined ? { 'Content-Length': '0' } : { 'Content-Type': OFFSET_STREAM }
    return this.#send('POST', '/api/tus', { ...ofBody, ...headers }, body)
  }

  /** Opens an upload. @returns its path. */
  async open(headers: Headers): Promise<string> {
    const answer = await this.create(headers)
    if (answer.status !== 201) throw new Error(`it was answered ${answer.status}: ${answer.body.toString()}`)
    return pathOf(answer)
  }

  head(path: string, headers: Headers = {}): Promise<Answer> {
    return this.#send('HEAD', path, headers)
  }

  async offset(path: string): Promise<number> {
    const answer = await this.head(path)
    if (answer.status !== 200) throw new Error(`HEAD was answered ${answer.status}`)
    return Number(headerOf(answer, 'upload-offset'))
  }

  patch(path: string, offset: number, bytes: Uint8Array, headers: Headers = {}): Promise<Answer> {
    const own = { 'Content-Type': OFFSET_STREAM, 'Upload-Offset': String(offset) }
    return this.#send('PATCH', path, { ...own, ...headers }, bytes)
  }

  terminate(path: string): Promise<Answer> {
    return this.#send('DELETE', path, {})
  }

  #send(method: string, path: string, headers: Headers, body?: Uint8Array): Promise<Answer> {
    return this.caller.request(method, path, {
      headers: { 'Tus-Resumable': '1.0.0', ...headers },
      ...(body !== undefined && { body }),
    })
  }
}

/** Where an upload is, by its Location. */
export function pathOf(answer: Answer): string {
  return new URL(headerOf(answer, 'location'), 'http://localhost').pathname
}
