import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { type Caller, errorCode, send, tokenCaller, upload } from '../faults/caller.ts'
import { childrenOf } from '../faults/child-processes.ts'
import { newContent, sha256Hex } from '../faults/content.ts'
import { describeScenario, pathOf, program } from '../faults/harness.ts'
import { type ServerProcess, startServer } from '../faults/server-process.ts'
import { tempDirectory } from '../faults/temp-directory.ts'
import { freePort } from '../services/free-port.ts'
import { textOf } from './deploy-files.ts'

const KB = 1024
const MB = 1024 * KB
const NOBODY: Caller = { principal: 'ip:127.0.0.1', headers: {} }

/** Two instances on the same data, and nginx in front of them with the file of `deploy/nginx`. */
interface Site {
  readonly url: URL
  readonly instances: ServerProcess[]
  /** Bytes that nginx has written to disks so far. */
  diskBytes(): number
  accessLog(): string
  /** Ends one instance, its requests in flight finished, and starts it again on its port. */
  restart(index: number): Promise<void>
}

async function startSite(): Promise<Site> {
  const dataDir = tempDirectory()
  const home = tempDirectory()
  const port = await freePort(3)
  const instancePorts = [port + 1, port + 2]
  const start = (index: number): Promise<ServerProcess> =>
    startServer({
      dataDir,
      env: { LADE_PORT: String(instancePorts[index]), LADE_METRICS_TOKEN: 'a-token-for-metrics' },
    })
  const instances = [await start(0), await start(1)]

  mkdirSync(join(home, 'log'))
  const site = textOf('nginx/lade.conf')
    .replaceAll(/lade-(\d):\d+/g, (_, number: string) => `127.0.0.1:${instancePorts[Number(number) - 1]}`)
    .replace('listen 80;', `listen 127.0.0.1:${port};`)
    .replaceAll('/var/log/nginx', join(home, 'log'))
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(home, name)};`,
  )
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  writeFileSync(
    join(home, 'nginx.conf'),
    `daemon off; ${user} pid ${home}/pid; worker_processes 1; events {} http { ${temporary.join(' ')}\n${site}\n}`,
  )
  const args = ['-p', home, '-c', join(home, 'nginx.conf'), '-e', join(home, 'error.log')]
  const nginx = spawn(pathOf('nginx') ?? '', args, { stdio: 'ignore' })
  onTestFinished(() => end(nginx))
  const url = new URL(`http://127.0.0.1:${port}`)
  await answering(url)

  return {
    url,
    instances,
    diskBytes: () => childrenOf(nginx.pid ?? 0).reduce((sum, pid) => sum + writtenBytes(pid), 0),
    accessLog: () => readFileSync(join(home, 'log/lade.log'), 'utf8'),
    async restart(index) {
      await instances[index]?.stop()
      instances[index] = await start(index)
    },
  }
}

async function answering(url: URL): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const answer = await send(url, 'GET', '/healthz').catch(() => undefined)
    if (answer?.status === 200) return
    await sleep(50)
  }
  throw new Error('nginx does not answer')
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}

function writtenBytes(pid: number): number {
  return Number(/^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1])
}

describeScenario(
  { id: 'proxy', name: 'behind nginx with the file of deploy/nginx', needs: [program('nginx', 'nginx')] },
  () => {
    test('bodies pass whole, both ways, and nothing of them by a disk of nginx', async () => {
      const { url, diskBytes } = await startSite()
      const user = await tokenCaller(url)
      const before = diskBytes()
      const content = newContent(20 * MB)
      expect((await upload(url, user, content)).status).toBe(200)
      for (let round = 0; round < 3; round += 1) {
        expect(sha256Hex((await send(url, 'GET', `/p/${content.cid}`)).body)).toBe(content.cid)
      }
      const headers = { Range: 'bytes=20971510-' }
      const part = await send(url, 'GET', `/p/${content.cid}`, { headers })
      expect([part.status, part.body]).toEqual([206, content.bytes().subarray(20_971_510)])
      expect(part.headers.etag).toBe(`"${content.cid}"`)
      // Its log, a page at a time.
      expect(diskBytes() - before).toBeLessThan(256 * KB)
    })

    test('callers are counted under their own address, whatever they claim', async () => {
      const { url } = await startSite()
      const remaining: number[] = []
      for (const address of ['203.0.113.1', '203.0.113.2, 198.51.100.7']) {
        const liar: Caller = { ...NOBODY, headers: { 'X-Forwarded-For': address } }
        const answer = await upload(url, liar, newContent(1000))
        expect(answer.status).toBe(200)
        remaining.push(Number(answer.headers['x-ratelimit-remaining']))
      }
      expect(remaining[1]).toBe((remaining[0] ?? 0) - 1000)
    })

    test('refusals are those of Lade, and metrics are for those who are inside', async () => {
      const { url, instances, accessLog } = await startSite()
      const headers = { 'Content-Type': 'text/plain', 'X-Filename': 'secret%2Fname' }
      const refused = await send(url, 'POST', '/api/upload?cid=!&token=secret', {
        headers,
        body: Buffer.alloc(10 * MB),
      })
      expect([refused.status, errorCode(refused)]).toEqual([400, 'invalid_cid'])

      const authorized = { headers: { Authorization: 'Bearer a-token-for-metrics' } }
      expect((await send(instances[0]?.url ?? url, 'GET', '/metrics', authorized)).status).toBe(200)
      expect((await send(url, 'GET', '/metrics', authorized)).status).toBe(404)
      await expect.poll(accessLog).toContain('/api/upload')
      expect(accessLog()).not.toContain('secret')
    })

    test('a restart of one instance after the other fails no request that can be repeated', async () => {
      const { url, restart } = await startSite()
      const user = await tokenCaller(url)
      const answers = new Map<string, number>()
      const staged: string[] = []
      let lost = 0
      let isGoing = true
      async function ask(): Promise<void> {
        while (isGoing) {
          const isSmall = staged.length % 2 === 0
          const content = newContent(isSmall ? 20 * KB : 200 * KB)
          const first = await upload(url, user, content)
          // nginx sends on a bigger body as it comes, so when the instance goes meanwhile it is the caller who sends it again.
          const isLost = !isSmall && (first.status === 502 || first.status === 503)
          if (isLost) lost += 1
          const put = isLost ? await upload(url, user, content) : first
          if (put.status === 200) staged.push(content.cid)
          const get = await send(url, 'GET', `/p/${staged[Math.floor(Math.random() * staged.length)]}`)
          for (const name of [`POST ${put.status}`, `GET ${get.status}`])
            answers.set(name, (answers.get(name) ?? 0) + 1)
          await sleep(10)
        }
      }
      const asking = Promise.all([ask(), ask(), ask()])
      for (const index of [0, 1, 0, 1]) await restart(index)
      isGoing = false
      await asking
      expect(Object.fromEntries(answers)).toEqual({ 'POST 200': staged.length, 'GET 200': staged.length })
      expect(staged.length).toBeGreaterThan(20)
      expect(lost).toBeLessThanOrEqual(4)
      for (const cid of staged) expect((await send(url, 'GET', `/p/${cid}`)).status).toBe(200)
    })
  },
)
