/**
 * `tus-js-client`, unmodified, and Uppy's Dashboard with its Tus plugin in Chromium upload to a service that is killed and restarted, over connections that are cut.
 *
 * Run it as `npm run e2e` in the root. It needs no network beyond loopback.
 */
import assert from 'node:assert/strict'
import { createCipheriv, createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { importer } from 'ipfs-unixfs-importer'
import { type HttpResponse, Upload, type UploadOptions } from 'tus-js-client'
import { type Chromium, startChromium } from '../services/chromium.ts'
import { freePort } from '../services/free-port.ts'
import { type Lade, startLade } from '../services/lade.ts'
import { startTcpRelay, type TcpRelay } from '../services/tcp-relay.ts'
import { serveUppyPage, type UppyPage } from './uppy-page.ts'

const MIB = 1_048_576
const FILE_BYTES = 300_000_000
const DISRUPTIONS = 10
/** What the client has sent between two of them. */
const BYTES_BETWEEN = 26_000_000
const TIMEOUT_MS = 240_000

let dir: string
let port: number
let lade: Lade
let relay: TcpRelay

const start = (): Promise<Lade> =>
  startLade({
    LADE_PORT: String(port),
    LADE_DATA_DIR: join(dir, 'data'),
    LADE_MIN_FREE_MB: '0',
    LADE_TOKEN_FILE_MB: '1000',
    LADE_TOKEN_DAILY_MB: '4000',
    LADE_LOG_LEVEL: 'silent',
  })

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'lade-tus-'))
  port = await freePort()
  lade = await start()
  relay = await startTcpRelay(port)
})
after(async () => {
  await relay.discard()
  await lade.kill()
  await rm(dir, { recursive: true })
})

interface SampleFile {
  readonly path: string
  readonly sha256: string
  readonly cid: string
}

/** A file of random bytes, and the names that it has. */
async function sampleFile(name: string, sizeBytes: number): Promise<SampleFile> {
  const path = join(dir, name)
  const file = await open(path, 'w')
  const hash = createHash('sha256')
  const cipher = createCipheriv('chacha20', createHash('sha256').update(name).digest(), Buffer.alloc(16))
  for (let left = sizeBytes; left > 0; left -= MIB) {
    const chunk = cipher.update(Buffer.alloc(Math.min(left, MIB)))
    hash.update(chunk)
    await file.write(chunk)
  }
  await file.close()
  const store = { put: async <Cid>(cid: Cid): Promise<Cid> => cid }
  const source = [{ content: createReadStream(path, { highWaterMark: MIB }) }]
  for await (const { cid } of importer(source, store, { profile: 'unixfs-v1-2025' })) {
    return { path, sha256: hash.digest('hex'), cid: cid.toString() }
  }
  throw new Error('the importer printed no root')
}

async function signUp(email: string): Promise<string> {
  const answer = await fetch(new URL('/api/auth/signup', lade.url), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email, label: 'e2e' }),
  })
  const { token } = (await answer.json()) as { token: string }
  return token
}

interface Options extends Partial<UploadOptions> {
  /** Missing in the types of the client. */
  readonly protocol?: 'ietf-draft-05'
  /** Hides from the client that it is a file, whose size it could ask for. */
  readonly isStream?: boolean
}

/** Uploads a file by way of the relay. Resolves to the CID that the last answer names. */
function upload(file: SampleFile, token: string, options: Options): Promise<string> {
  return new Promise((resolve, reject) => {
    const { isStream = false, ...more } = options
    const stored = createReadStream(file.path)
    new Upload(isStream ? stored.pipe(new PassThrough()) : stored, {
      endpoint: `http://127.0.0.1:${relay.port}/api/tus`,
      headers: { Authorization: `Bearer ${token}` },
      metadata: { filename: 'sample.bin', filetype: 'application/octet-stream' },
      retryDelays: Array.from({ length: 200 }, () => 300),
      onError: reject,
      onSuccess: ({ lastResponse }: { readonly lastResponse: HttpResponse }) =>
        resolve(lastResponse.getHeader('X-Cid') ?? ''),
      ...more,
    }).start()
  })
}

async function expectStored(file: SampleFile, token: string, sizeBytes: number): Promise<void> {
  const headers = { Authorization: `Bearer ${token}` }
  const answer = await fetch(new URL('/api/usage', lade.url), { headers })
  const { today } = (await answer.json()) as { today: { bytes: number; files: number; reservedBytes: number } }
  const { bytes, files, reservedBytes } = today
  assert.deepEqual({ bytes, files, reservedBytes }, { bytes: sizeBytes, files: 1, reservedBytes: 0 })
  const got = await fetch(new URL(`/p/${file.cid}`, lade.url))
  const hash = createHash('sha256')
  for await (const chunk of got.body ?? []) hash.update(chunk)
  assert.equal(hash.digest('hex'), file.sha256)
}

/** Kills the service and cuts the connection in turn, each time that a client has sent so many bytes more. */
class Disruptor {
  count = 0
  #isDisrupting = false
  #nextAt = BYTES_BETWEEN

  /** @param sentBytes - all that the client has sent, what it had to send again among it. */
  noteSent(sentBytes: number): void {
    if (sentBytes >= this.#nextAt && this.count < DISRUPTIONS && !this.#isDisrupting) void this.#disrupt(sentBytes)
  }

  async #disrupt(sentBytes: number): Promise<void> {
    this.#isDisrupting = true
    this.count += 1
    relay.close()
    if (this.count % 2 === 0) {
      await lade.kill()
      lade = await start()
    }
    relay.reopen()
    this.#nextAt = sentBytes + BYTES_BETWEEN
    this.#isDisrupting = false
  }
}

describe('tus-js-client', () => {
  test('uploads 300 MB while the service is killed and the connection is cut', { timeout: TIMEOUT_MS }, async () => {
    const file = await sampleFile('big', FILE_BYTES)
    const token = await signUp('big@example.org')
    const disruptor = new Disruptor()
    let sentBytes = 0
    let lastBytes = 0
    const cid = await upload(file, token, {
      onProgress(bytes) {
        sentBytes += Math.max(0, bytes - lastBytes)
        lastBytes = bytes
        disruptor.noteSent(sentBytes)
      },
    })
    assert.equal(disruptor.count, DISRUPTIONS)
    assert.equal(cid, file.cid)
    await expectStored(file, token, FILE_BYTES)
  })

  test('uploads three parts at once, and has them made one file', { timeout: TIMEOUT_MS }, async () => {
    const file = await sampleFile('parallel', 20 * MIB + 7)
    const token = await signUp('parallel@example.org')
    const cid = await upload(file, token, { parallelUploads: 3 })
    assert.equal(cid, file.cid)
    await expectStored(file, token, 20 * MIB + 7)
  })

  test('uploads in requests of 5 MiB, with a length that is known at the end', { timeout: TIMEOUT_MS }, async () => {
    const file = await sampleFile('deferred', 17 * MIB + 3)
    const token = await signUp('deferred@example.org')
    const cid = await upload(file, token, { isStream: true, chunkSize: 5 * MIB, uploadLengthDeferred: true })
    assert.equal(cid, file.cid)
    await expectStored(file, token, 17 * MIB + 3)
  })

  test('uploads by the draft of the IETF that it knows', { timeout: TIMEOUT_MS }, async () => {
    const file = await sampleFile('draft', 12 * MIB + 1)
    const token = await signUp('draft@example.org')
    const endpoint = `http://127.0.0.1:${relay.port}/api/upload`
    const cid = await upload(file, token, { endpoint, protocol: 'ietf-draft-05', chunkSize: 5 * MIB })
    assert.equal(cid, file.cid)
    await expectStored(file, token, 12 * MIB + 1)
  })
})

const chromiumPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((path) => existsSync(path))
describe('the Dashboard of Uppy in Chromium', { skip: chromiumPath === undefined && 'there is no chromium' }, () => {
  let page: UppyPage
  let chromium: Chromium
  before(async () => {
    page = await serveUppyPage()
    chromium = await startChromium(chromiumPath ?? '')
  })
  after(async () => {
    await chromium.close()
    page.close()
  })

  test('uploads 300 MB while the service is killed and the connection is cut', { timeout: TIMEOUT_MS }, async () => {
    const file = await sampleFile('chosen', FILE_BYTES)
    const token = await signUp('uppy@example.org')
    const tab = await chromium.newPage()
    await tab.open(page.urlFor({ endpoint: `http://127.0.0.1:${relay.port}/api/tus`, token }))
    await until(async () => (await tab.run(`document.querySelector('input[type=file]') !== null`)) === true)
    await tab.chooseFiles('input.uppy-Dashboard-input', [file.path])
    await until(
      async () => (await tab.run(`document.querySelector('.uppy-StatusBar-actionBtn--upload') !== null`)) === true,
    )
    await tab.run(`document.querySelector('.uppy-StatusBar-actionBtn--upload').click()`)
    const disruptor = new Disruptor()
    for (;;) {
      const state = (await tab.run('JSON.stringify(uploads)')) as string
      const { sentBytes, cids, failed } = JSON.parse(state) as {
        sentBytes: number
        cids: readonly (string | null)[]
        failed: readonly string[]
      }
      assert.deepEqual(failed, [])
      if (cids.length > 0) {
        assert.deepEqual(cids, [file.cid])
        break
      }
      disruptor.noteSent(sentBytes)
      await sleep(20)
    }
    assert.equal(disruptor.count, DISRUPTIONS)
    await expectStored(file, token, FILE_BYTES)
  })
})

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 30_000
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error('the page was not as expected after 30 s')
    await sleep(50)
  }
}
