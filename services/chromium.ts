import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openTempHome } from './temp-home.ts'
import { until } from './until.ts'

const START_TIMEOUT_MS = 60_000
const END_TIMEOUT_MS = 10_000
const FLAGS = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run']

/** A page of a browser, by the DevTools protocol. */
export interface Page {
  /** Opens an address. @returns true when the browser downloads it and shows nothing. */
  open(url: string): Promise<{ readonly isDownload: boolean }>
  /** The value of an expression on the page, beside its own scripts and whatever its policy says of them. */
  evaluate(expression: string): Promise<unknown>
  /** The same among the page's own scripts, under its policy, without waiting for a promise. @throws {Error} what the expression throws. */
  run(expression: string): Promise<unknown>
  /** What is seen, as PNG. */
  screenshot(): Promise<Buffer>
  /** Gives files to the field of a selector, as if they were chosen in the dialog. @param paths - on this machine. */
  chooseFiles(selector: string, paths: readonly string[]): Promise<void>
  /** A key, pressed and let go, such as `Tab`, `Enter`, `Space` or `ArrowDown`. */
  press(key: string, options?: { readonly shift?: boolean }): Promise<void>
  /** Types into what has the focus. */
  type(text: string): Promise<void>
  /** The size of the window, and which colours the user prefers. */
  look(view: View): Promise<void>
  /** Makes the machine and its network as slow as this. */
  slowDown(limits: SlowMachine): Promise<void>
  /** What the browser has said about the page since it was opened: scripts and loads that a policy blocked, and failures. */
  complaints(): readonly string[]
  /** What scripts have logged since it was opened, in the page and in its frames, of other sites too. */
  logged(): readonly string[]
  /** The dialogs that scripts have opened since it was opened. Each is closed at once; one that asks whether to leave the page lets it go. */
  dialogs(): readonly string[]
  /** A command of the protocol that has no name here. */
  command(method: string, params?: object): Promise<Record<string, unknown>>
  /** Hears the events of the page itself. */
  onEvent(listener: (method: string, params: Readonly<Record<string, unknown>>) => void): void
}

export interface View {
  readonly width: number
  readonly height: number
  readonly scheme: 'light' | 'dark'
}

export interface SlowMachine {
  /** How many times as long scripts take. @default 1 */
  readonly cpu?: number
  readonly downBytesPerSecond?: number
  readonly upBytesPerSecond?: number
  readonly latencyMs?: number
}

const KEY_CODES: Readonly<Record<string, number>> = {
  Tab: 9,
  Enter: 13,
  Escape: 27,
  Space: 32,
  ArrowUp: 38,
  ArrowDown: 40,
}
/** What a key types, where it types something. */
const KEY_TEXTS: Readonly<Record<string, string>> = { Enter: '\r', Space: ' ' }
const SHIFT = 8

export interface Chromium {
  newPage(): Promise<Page>
  /** The addresses of frames that run apart from their page, such as those of the viewer of PDFs. */
  frames(): Promise<readonly string[]>
  close(): Promise<void>
}

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: Record<string, unknown>
  readonly result?: Record<string, unknown>
  readonly error?: { readonly message: string }
  readonly sessionId?: string
}

/** Starts a headless Chromium with a profile of its own. */
export async function startChromium(program: string): Promise<Chromium> {
  const home = openTempHome('chromium')
  const flags = [...FLAGS, '--remote-debugging-port=0', `--user-data-dir=${home.path}`, '--window-size=800,600']
  const browser = spawn(program, [...flags, 'about:blank'], { stdio: 'ignore' })
  const file = join(home.path, 'DevToolsActivePort')
  await until('Chromium listens', START_TIMEOUT_MS, () => existsSync(file) && readFileSync(file, 'utf8').includes('\n'))
  const [port, path] = readFileSync(file, 'utf8').split('\n')
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`)
  await once(socket, 'open')

  const waiting = new Map<number, (message: Message) => void>()
  const listeners = new Set<(message: Message) => void>()
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as Message
    if (message.id === undefined) for (const listener of listeners) listener(message)
    else waiting.get(message.id)?.(message)
  })
  let count = 0
  const call = async (method: string, params: object = {}, sessionId?: string): Promise<Record<string, unknown>> => {
    count += 1
    const id = count
    const answered = new Promise<Message>((resolve) => waiting.set(id, resolve))
    socket.send(JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) }))
    const { result = {}, error } = await answered
    waiting.delete(id)
    if (error !== undefined) throw new Error(`${method}: ${error.message}`)
    return result
  }
  return {
    async newPage() {
      const { targetId } = await call('Target.createTarget', { url: 'about:blank' })
      const { sessionId } = await call('Target.attachToTarget', { targetId, flatten: true })
      const session = String(sessionId)
      const own = new Set([session])
      listeners.add(({ method, params, sessionId }) => {
        if (method !== 'Target.attachedToTarget' || !own.has(sessionId ?? '')) return
        const frame = String(params?.sessionId)
        own.add(frame)
        // A frame or a worker may have ended meanwhile.
        call('Runtime.enable', {}, frame).catch(() => {})
      })
      return openPage(
        (method, params) => call(method, params, session),
        (listener) =>
          listeners.add((message) => {
            if (own.has(message.sessionId ?? '')) listener(message, message.sessionId === session)
          }),
      )
    },
    async frames() {
      const { targetInfos } = await call('Target.getTargets')
      return (targetInfos as { type: string; url: string }[]).flatMap(({ type, url }) =>
        type === 'iframe' ? [url] : [],
      )
    },
    async close() {
      const exited = once(browser, 'exit')
      // It may end before it has answered.
      void call('Browser.close')
      const timer = setTimeout(() => browser.kill('SIGKILL'), END_TIMEOUT_MS)
      await exited
      clearTimeout(timer)
      home.discard()
    },
  }
}

type Call = (method: string, params?: object) => Promise<Record<string, unknown>>

/** @param listen - to what the page and its frames say. */
async function openPage(
  call: Call,
  listen: (listener: (message: Message, isOfPage: boolean) => void) => void,
): Promise<Page> {
  for (const domain of ['Page', 'Log', 'Runtime']) await call(`${domain}.enable`)
  await call('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: false, flatten: true })
  let complaints: string[] = []
  let dialogs: string[] = []
  let logged: string[] = []
  let loads = 0
  listen(({ method, params = {} }, isOfPage) => {
    if (method === 'Runtime.consoleAPICalled') {
      const values = (params.args as { value?: unknown; description?: string }[]).map(
        (one) => one.value ?? one.description,
      )
      logged.push(values.join(' '))
    }
    if (!isOfPage) return
    if (method === 'Page.loadEventFired') loads += 1
    if (method === 'Page.javascriptDialogOpening') {
      dialogs.push(params.type === 'beforeunload' ? 'beforeunload' : String(params.message))
      void call('Page.handleJavaScriptDialog', { accept: params.type === 'beforeunload' })
    }
    if (method === 'Log.entryAdded') complaints.push((params.entry as { text: string }).text)
  })
  return {
    async open(url) {
      complaints = []
      dialogs = []
      logged = []
      const before = loads
      const { isDownload, errorText } = await call('Page.navigate', { url })
      if (isDownload === true) return { isDownload: true }
      if (errorText !== undefined) throw new Error(`${url}: ${errorText}`)
      await until(`${url} is loaded`, START_TIMEOUT_MS, () => loads > before)
      return { isDownload: false }
    },
    async evaluate(expression) {
      const { frameTree } = await call('Page.getFrameTree')
      const frameId = (frameTree as { frame: { id: string } }).frame.id
      const { executionContextId } = await call('Page.createIsolatedWorld', { frameId })
      const asked = {
        expression,
        contextId: executionContextId,
        returnByValue: true,
        awaitPromise: true,
        userGesture: true,
      }
      const { result } = await call('Runtime.evaluate', asked)
      return (result as { value?: unknown }).value
    },
    async run(expression) {
      const { result, exceptionDetails } = await call('Runtime.evaluate', {
        expression,
        returnByValue: true,
        allowUnsafeEvalBlockedByCSP: false,
      })
      if (exceptionDetails === undefined) return (result as { value?: unknown }).value
      const { exception } = exceptionDetails as { exception?: { description?: string } }
      throw new Error(exception?.description ?? 'the expression threw')
    },
    async chooseFiles(selector, files) {
      const { root } = await call('DOM.getDocument')
      const { nodeId } = await call('DOM.querySelector', { nodeId: (root as { nodeId: number }).nodeId, selector })
      await call('DOM.setFileInputFiles', { nodeId, files })
    },
    async press(key, { shift = false } = {}) {
      const text = KEY_TEXTS[key]
      const event = {
        key: key === 'Space' ? ' ' : key,
        code: key,
        windowsVirtualKeyCode: KEY_CODES[key] ?? 0,
        modifiers: shift ? SHIFT : 0,
        ...(text !== undefined && { text }),
      }
      await call('Input.dispatchKeyEvent', { type: 'keyDown', ...event })
      await call('Input.dispatchKeyEvent', { type: 'keyUp', ...event })
    },
    async type(text) {
      await call('Input.insertText', { text })
    },
    async look({ width, height, scheme }) {
      await call('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false })
      await call('Emulation.setEmulatedMedia', {
        features: [
          { name: 'prefers-color-scheme', value: scheme },
          // What changes is there at once.
          { name: 'prefers-reduced-motion', value: 'reduce' },
        ],
      })
    },
    async slowDown({ cpu = 1, downBytesPerSecond = -1, upBytesPerSecond = -1, latencyMs = 0 }) {
      await call('Network.enable')
      await call('Emulation.setCPUThrottlingRate', { rate: cpu })
      const conditions = {
        downloadThroughput: downBytesPerSecond,
        uploadThroughput: upBytesPerSecond,
        latency: latencyMs,
      }
      await call('Network.emulateNetworkConditions', { offline: false, ...conditions })
    },
    async screenshot() {
      const { data } = await call('Page.captureScreenshot', { format: 'png' })
      return Buffer.from(String(data), 'base64')
    },
    complaints: () => complaints,
    dialogs: () => dialogs,
    logged: () => logged,
    command: call,
    onEvent: (listener) =>
      listen(({ method, params = {} }, isOfPage) => {
        if (isOfPage && method !== undefined) listener(method, params)
      }),
  }
}
