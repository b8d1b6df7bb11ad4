import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'

const FLAGS = [
  '--headless=new',
  '--no-sandbox',
  '--disable-dev-shm-usage',
  '--disable-gpu',
  '--no-first-run',
  '--remote-debugging-pipe',
]
const CALL_TIMEOUT_MS = 30_000

/** One tab, driven by the Chrome DevTools Protocol. */
export interface Page {
  /** Calls a method of the protocol. @throws {Error} with what Chromium says against it, or after 30 s. */
  call<Result = unknown>(method: string, params?: object): Promise<Result>
  /** The value of an expression, a promise's once it is fulfilled. @throws {Error} with what the expression throws. */
  evaluate<Value>(expression: string): Promise<Value>
  /** What the page has logged as errors and thrown so far, a line each. */
  readonly complaints: readonly string[]
}

export interface Chromium {
  open(url: string): Promise<Page>
  /** Ends it by its pid, and removes its profile. */
  close(): Promise<void>
}

interface Message {
  readonly id?: number
  readonly sessionId?: string
  readonly method?: string
  readonly params?: Record<string, unknown>
  readonly result?: unknown
  readonly error?: { readonly message: string }
}

/** Starts the Chromium of the path without a window, with a profile of its own. */
export async function startChromium(): Promise<Chromium> {
  const profile = await mkdtemp(join(tmpdir(), 'lade-chromium-'))
  const child = spawn('chromium', [...FLAGS, `--user-data-dir=${profile}`, 'about:blank'], {
    // It reads commands from the fourth and answers on the fifth.
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  const connection = connect(child.stdio[3] as Writable, child.stdio[4] as Readable)
  child.once('error', connection.fail)
  child.once('exit', (code, signal) => connection.fail(new Error(`Chromium ended with ${code ?? signal}`)))
  return {
    open: (url) => openPage(connection, url),
    async close() {
      await connection.call('Browser.close').catch(kill)
      const late = setTimeout(kill, 5000)
      await ended
      clearTimeout(late)
      process.off('exit', kill)
      await rm(profile, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

interface Connection {
  call<Result>(method: string, params?: object, sessionId?: string): Promise<Result>
  listen(onEvent: (message: Message) => void): void
  /** Rejects what waits for an answer, and whatever is called later. */
  fail(reason: Error): void
}

/** The protocol on two pipes: JSON, each message ended by a zero byte. */
function connect(commands: Writable, answers: Readable): Connection {
  const waiting = new Map<number, { resolve(result: never): void; reject(reason: Error): void }>()
  const listeners: ((message: Message) => void)[] = []
  let failure: Error | undefined
  let lastId = 0
  let rest = ''
  answers.setEncoding('utf8').on('data', (text: string) => {
    const messages = `${rest}${text}`.split('\0')
    rest = messages.pop() ?? ''
    for (const json of messages) {
      const message: Message = JSON.parse(json)
      const call = waiting.get(message.id ?? 0)
      waiting.delete(message.id ?? 0)
      if (call === undefined) for (const listener of listeners) listener(message)
      else if (message.error === undefined) call.resolve(message.result as never)
      else call.reject(new Error(message.error.message))
    }
  })
  // When it ends in the middle of a command, its end says so.
  commands.on('error', () => {})
  return {
    call(method, params = {}, sessionId) {
      if (failure !== undefined) return Promise.reject(failure)
      lastId += 1
      const id = lastId
      commands.write(`${JSON.stringify({ id, method, params, sessionId })}\0`)
      return new Promise((resolve, reject) => {
        const late = setTimeout(() => reject(new Error(`${method} was not answered`)), CALL_TIMEOUT_MS)
        waiting.set(id, { resolve, reject })
        late.unref()
      })
    },
    listen: (onEvent) => void listeners.push(onEvent),
    fail(reason) {
      failure = reason
      for (const { reject } of waiting.values()) reject(reason)
    },
  }
}

async function openPage(connection: Connection, url: string): Promise<Page> {
  const { targetId } = await connection.call<{ targetId: string }>('Target.createTarget', { url: 'about:blank' })
  const attached = { targetId, flatten: true }
  const { sessionId } = await connection.call<{ sessionId: string }>('Target.attachToTarget', attached)
  const call = <Result>(method: string, params?: object) => connection.call<Result>(method, params, sessionId)
  const complaints: string[] = []
  const loaded = new Promise<void>((resolve) => {
    connection.listen(({ sessionId: of, method, params }) => {
      if (of !== sessionId) return
      if (method === 'Page.loadEventFired') resolve()
      const isError = method === 'Log.entryAdded' && JSON.stringify(params).includes('"level":"error"')
      if (isError || method === 'Runtime.exceptionThrown') complaints.push(JSON.stringify(params))
    })
  })
  for (const domain of ['Page', 'Runtime', 'Log', 'DOM']) await call(`${domain}.enable`)
  const { errorText } = await call<{ errorText?: string }>('Page.navigate', { url })
  if (errorText !== undefined) throw new Error(`Chromium could not open ${url}: ${errorText}`)
  await loaded
  // The others have no focus, and no clipboard.
  await call('Page.bringToFront')
  return {
    call,
    complaints,
    async evaluate<Value>(expression: string) {
      const { result, exceptionDetails } = await call<{
        result: { value: Value }
        exceptionDetails?: { exception?: { description?: string } }
      }>('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true, userGesture: true })
      if (exceptionDetails === undefined) return result.value
      throw new Error(exceptionDetails.exception?.description ?? 'the expression threw')
    },
  }
}
