import { LadeError } from '@lade/core/errors'

const RETRY_AFTER_SECONDS = 5
/** Well above a receipt with a log for each of forty proposals. */
const MAX_ANSWER_BYTES = 4 * 2 ** 20
/** What is as long as this in a URL may be a key, and is kept out of messages. */
const MIN_SECRET_LENGTH = 8
/** JSON-RPC errors by which a node speaks of itself and not of the question: internal, without resources, over a limit. */
const NODE_TROUBLE_CODES = [-32603, -32002, -32005, -32007, 429]

/** The node answers the question with an error. */
export class RpcRefusal extends Error {
  override readonly name = 'RpcRefusal'
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }

  /** True when the code says that the node has trouble of its own. Some nodes give such a code to what a contract did, too. */
  get isTrouble(): boolean {
    return NODE_TROUBLE_CODES.includes(this.code)
  }
}

export interface JsonRpcOptions {
  /** Where the node answers, by http or https; a user and password in it are sent as basic authentication. */
  readonly url: string
  readonly timeoutMs: number
}

/** Asks one node, and nobody else. */
export interface JsonRpc {
  /**
   * Asks once.
   *
   * @throws {RpcRefusal} when the node answers with an error.
   * @throws {LadeError} `chain_offline` when there is no answer in time, or none that is JSON-RPC. Whether the question got there is
   *   unknown then.
   */
  request(method: string, params: readonly unknown[]): Promise<unknown>
}

/** The error for everything that a chain did not answer, with why. */
export function chainOffline(cause: unknown): LadeError<'chain_offline'> {
  return new LadeError('chain_offline', { retryAfterSeconds: RETRY_AFTER_SECONDS }, { cause })
}

/**
 * Opens a way to ask a node. Nothing is asked yet, nothing is asked twice, and no redirect is followed. What is thrown holds no part
 * of the URL that could be a key.
 *
 * @throws {TypeError} when the URL is none of http or https.
 */
export function openJsonRpc({ url, timeoutMs }: JsonRpcOptions): JsonRpc {
  const target = readUrl(url)
  const secrets = secretsIn(target)
  const headers = headersFor(target)
  const address = `${target.origin}${target.pathname}${target.search}`
  let lastId = 0

  const ask = async (method: string, params: readonly unknown[]): Promise<unknown> => {
    lastId += 1
    const response = await fetch(address, {
      method: 'POST',
      headers,
      body: JSON.stringify({ jsonrpc: '2.0', id: lastId, method, params }),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    })
    const text = await readText(response)
    // Some gateways answer 400 to a question that its node refused; with any other status it is not the node that speaks.
    if (!response.ok && response.status !== 400)
      throw new Error(`the node answered ${method} with HTTP ${response.status}`)
    return answerIn(text, method)
  }

  return {
    async request(method, params) {
      try {
        return await ask(method, params)
      } catch (error) {
        if (!(error instanceof RpcRefusal)) throw chainOffline(error)
        throw new RpcRefusal(error.code, redact(error.message, secrets))
      }
    },
  }
}

/**
 * Asks a question to which every error is trouble, whoever speaks it.
 *
 * @throws {LadeError} `chain_offline`.
 */
export async function ask(rpc: JsonRpc, method: string, params: readonly unknown[]): Promise<unknown> {
  try {
    return await rpc.request(method, params)
  } catch (error) {
    throw error instanceof RpcRefusal ? chainOffline(error) : error
  }
}

function readUrl(url: string): URL {
  const target = URL.parse(url)
  if (target === null || !['http:', 'https:'].includes(target.protocol)) {
    throw new TypeError('The address of a chain is a URL of http or https.')
  }
  return target
}

/** fetch refuses URLs with a user in them. */
function headersFor({ username, password }: URL): Record<string, string> {
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  if (username === '' && password === '') return headers
  const credentials = Buffer.from(`${decoded(username)}:${decoded(password)}`)
  return { ...headers, authorization: `Basic ${credentials.toString('base64')}` }
}

async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let sizeBytes = 0
  for await (const chunk of response.body ?? []) {
    sizeBytes += chunk.length
    if (sizeBytes > MAX_ANSWER_BYTES) throw new Error(`the node returned more than ${MAX_ANSWER_BYTES} bytes`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text
}

function answerIn(text: string, method: string): unknown {
  const answer = parse(text)
  if (typeof answer === 'object' && answer !== null) {
    if ('error' in answer && answer.error !== null) throw refusalOf(answer.error)
    if ('result' in answer) return answer.result
  }
  throw new Error(`the answer to ${method} is not JSON-RPC`)
}

/** Undefined for what is not JSON; a message with a piece of it would say too much. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function refusalOf(error: unknown): RpcRefusal {
  const { code, message }: { code?: unknown; message?: unknown } = Object(error)
  return new RpcRefusal(typeof code === 'number' ? code : 0, typeof message === 'string' ? message : 'no reason given')
}

function secretsIn({ username, password, pathname, searchParams }: URL): string[] {
  const parts = [...pathname.split('/'), ...searchParams.values()].filter((part) => part.length >= MIN_SECRET_LENGTH)
  const credentials = [username, password].filter((part) => part !== '')
  return [...parts, ...credentials].flatMap((part) => [part, decoded(part)])
}

/** A percent sign that begins no escape stands for itself. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

function redact(message: string, secrets: readonly string[]): string {
  return secrets.reduce((text, secret) => text.replaceAll(secret, '[redacted]'), message)
}

/** Asks until there is an answer, and gives that from then on. */
export function askOnce<Answer>(question: () => Promise<Answer>): () => Promise<Answer> {
  let known: Promise<Answer> | undefined
  return () => {
    known ??= question().catch((error: unknown) => {
      known = undefined
      throw error
    })
    return known
  }
}
