import { Agent } from 'node:http'
import { type Answer, type Caller, type SendOptions, send } from './caller.ts'
import { type Content, newContent } from './content.ts'
import type { SeededRandom } from './seeded-random.ts'

const KB = 1024
const DOORS = ['tus', 'ietf'] as const

/** An upload in several requests, and what its sender was told. */
export class ResumedUpload {
  readonly caller: Caller
  readonly content: Content
  readonly door: (typeof DOORS)[number]
  /** Where it is; undefined while nobody has told. */
  path: string | undefined
  /** The most bytes that an answer has called durable. */
  toldBytes = 0
  /** The most bytes that were sent. */
  sentBytes = 0
  /** True when an answer has said that the file is stored. */
  isStored = false

  constructor(caller: Caller, content: Content, door: (typeof DOORS)[number]) {
    this.caller = caller
    this.content = content
    this.door = door
  }

  /** Opens it. False when there was no answer. */
  async open(origin: URL, agent?: Agent): Promise<boolean> {
    const { cid, sizeBytes } = this.content
    const answer =
      this.door === 'tus'
        ? await this.#send(origin, 'POST', '/api/tus', {
            headers: {
              'Content-Length': '0',
              'Upload-Length': String(sizeBytes),
              'Upload-Metadata': `cid ${Buffer.from(cid).toString('base64')}`,
            },
            agent,
          })
        : await this.#send(origin, 'POST', `/api/upload?cid=${cid}`, {
            headers: { 'Content-Length': '0', 'Upload-Complete': '?0', 'Upload-Length': String(sizeBytes) },
            agent,
          })
    if (answer === undefined || answer.status >= 500) return false
    if (answer.status !== 201) throw new Error(`an upload was refused with ${answer.status}: ${answer.body}`)
    this.path = new URL(String(answer.headers.location)).pathname
    return true
  }

  /** Sends the next bytes, at most `mostBytes`. False when there was no answer, or one that the service is not well. */
  async append(origin: URL, mostBytes: number, agent?: Agent): Promise<boolean> {
    const bytes = this.content.bytes().subarray(this.toldBytes, this.toldBytes + mostBytes)
    const isLast = this.toldBytes + bytes.length === this.content.sizeBytes
    this.sentBytes = Math.max(this.sentBytes, this.toldBytes + bytes.length)
    const type = this.door === 'tus' ? 'application/offset+octet-stream' : 'application/partial-upload'
    const answer = await this.#send(origin, 'PATCH', this.path ?? '', {
      headers: {
        'Content-Type': type,
        'Upload-Offset': String(this.toldBytes),
        ...(this.door === 'ietf' && { 'Upload-Complete': isLast ? '?1' : '?0' }),
      },
      body: bytes,
      agent,
    })
    if (answer === undefined || answer.status >= 500) return false
    if (answer.status !== 204 && answer.status !== 200) {
      throw new Error(`${this.content.cid} at ${this.toldBytes} was refused with ${answer.status}: ${answer.body}`)
    }
    this.#heard(answer)
    return true
  }

  /** Asks where it continues. What is wrong with the answer is told in a sentence. */
  async ask(origin: URL): Promise<string | undefined> {
    if (this.path === undefined) return undefined
    const answer = await this.#send(origin, 'HEAD', this.path, {})
    const what = `${this.content.cid} of ${this.content.sizeBytes} bytes (${this.door})`
    if (answer === undefined || (answer.status !== 200 && answer.status !== 204)) {
      return `${what}: an upload of which ${this.toldBytes} bytes were durable is gone: ${answer?.status}`
    }
    const offset = Number(answer.headers['upload-offset'])
    if (!(offset >= this.toldBytes)) return `${what}: ${this.toldBytes} bytes were durable, and now ${offset} are`
    if (offset > this.sentBytes) return `${what}: ${this.sentBytes} bytes were sent, and ${offset} are there`
    this.#heard(answer)
    if (offset === this.content.sizeBytes && !this.isStored) return `${what}: it has all bytes, and is not stored`
    return undefined
  }

  /** Forgets what was told after a moment at which the machine lost its power. */
  toldUntilNow(): () => void {
    const { toldBytes, isStored, path } = this
    return () => {
      this.toldBytes = toldBytes
      this.isStored = isStored
      this.path = path
    }
  }

  #heard({ headers }: Answer): void {
    this.toldBytes = Number(headers['upload-offset'])
    this.isStored = headers['x-cid'] === this.content.cid
  }

  async #send(
    origin: URL,
    method: string,
    path: string,
    { headers, agent, ...options }: Omit<SendOptions, 'agent'> & { readonly agent?: Agent | undefined },
  ): Promise<Answer | undefined> {
    const own = this.door === 'tus' ? { 'Tus-Resumable': '1.0.0' } : {}
    try {
      return await send(origin, method, path, {
        ...options,
        headers: { ...this.caller.headers, ...own, ...headers },
        ...(agent !== undefined && { agent }),
      })
    } catch (error) {
      if (error instanceof Error && 'code' in error) return undefined
      throw error
    }
  }
}

/** Uploads in several requests that go on until they are told to stop. */
export interface ResumedLoad {
  readonly uploads: readonly ResumedUpload[]
  /** How many were begun of which nobody was told where they are. */
  readonly orphans: number
  /** Sends nothing more, and resolves when no request is under way. @throws what a caller was refused with. */
  stop(): Promise<void>
}

/** Every caller sends one file after the other, 1 KiB to 3 MiB, in pieces of any size. */
export function startResumedLoad(
  origin: URL,
  { callers, random }: { readonly callers: readonly Caller[]; readonly random: SeededRandom },
): ResumedLoad {
  const agent = new Agent({ keepAlive: true })
  const uploads: ResumedUpload[] = []
  let orphans = 0
  let isStopped = false

  async function sendAgainAndAgain(caller: Caller): Promise<void> {
    while (!isStopped) {
      const upload = new ResumedUpload(
        caller,
        newContent(random.betweenMagnitudes(1 * KB, 3 * 1024 * KB)),
        random.pick(DOORS),
      )
      if (!(await upload.open(origin, agent))) {
        orphans += 1
        return
      }
      uploads.push(upload)
      while (!isStopped && !upload.isStored) {
        if (!(await upload.append(origin, random.betweenMagnitudes(1 * KB, 1024 * KB), agent))) return
      }
    }
  }

  const under = callers.map((caller) => sendAgainAndAgain(caller))
  return {
    uploads,
    get orphans() {
      return orphans
    },
    async stop() {
      isStopped = true
      await Promise.all(under)
      agent.destroy()
    },
  }
}

/** Asks for every upload, sends what is missing, and says what was wrong. */
export async function resumeAll(origin: URL, uploads: readonly ResumedUpload[]): Promise<string[]> {
  const broken: string[] = []
  await Promise.all(
    uploads.map(async (upload) => {
      const fault = await upload.ask(origin)
      if (fault !== undefined) broken.push(fault)
      else while (!upload.isStored) if (!(await upload.append(origin, 700 * KB))) throw new Error('no answer')
    }),
  )
  return broken
}
