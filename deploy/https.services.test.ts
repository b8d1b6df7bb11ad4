import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:http2'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { newContent } from '../faults/content.ts'
import { describeScenario, pathOf, program } from '../faults/harness.ts'
import { tempDirectory } from '../faults/temp-directory.ts'
import { startChild } from '../services/child.ts'
import { freePort } from '../services/free-port.ts'
import { untilListening } from '../services/until.ts'
import { ROOT, textOf } from './deploy-files.ts'

const NAME = 'lade.example'

/** nginx with `lade.conf` and `lade-https.conf` included as it says, in front of one instance. */
async function startSite() {
  const home = tempDirectory()
  const first = await freePort(3)
  const [ladePort, plainPort, port] = [first, first + 1, first + 2]
  const { PATH, HOME } = process.env
  const lade = startChild(process.execPath, [join(ROOT, 'packages/cli/src/main.ts'), 'serve'], {
    env: {
      PATH,
      HOME,
      LADE_PORT: String(ladePort),
      LADE_DATA_DIR: join(home, 'data'),
      LADE_MIN_FREE_MB: '0',
      LADE_PUBLIC_URL: `https://${NAME}:${port}`,
    },
  })
  onTestFinished(async () => void (await lade.end('SIGTERM', 30_000)))
  const certificate = { cert: join(home, 'fullchain.pem'), key: join(home, 'privkey.pem') }
  const subject = ['-subj', `/CN=${NAME}`, '-addext', `subjectAltName=DNS:${NAME}`]
  const args = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject]
  execFileSync('openssl', [...args, '-keyout', certificate.key, '-out', certificate.cert], { stdio: 'ignore' })

  mkdirSync(join(home, 'log'))
  const https = textOf('nginx/lade-https.conf')
    .replace('listen 443 ssl http2;', `listen 127.0.0.1:${port} ssl http2;`)
    .replace('listen [::]:443 ssl http2;', '')
    .replace(/^ssl_certificate .*$/m, `ssl_certificate ${certificate.cert};`)
    .replace(/^ssl_certificate_key .*$/m, `ssl_certificate_key ${certificate.key};`)
  writeFileSync(join(home, 'https.conf'), https)
  const site = textOf('nginx/lade.conf')
    .replaceAll(/lade-\d:\d+/g, `127.0.0.1:${ladePort}`)
    .replace('listen 80;', `listen 127.0.0.1:${plainPort};\n    include ${join(home, 'https.conf')};`)
    .replaceAll('/var/log/nginx', join(home, 'log'))
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${join(home, kind)};`,
  )
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  const file = join(home, 'nginx.conf')
  writeFileSync(
    file,
    `daemon off; ${user} pid ${home}/pid; worker_processes 1; events {} http { ${folders.join(' ')}\n${site}\n}`,
  )
  const nginx = spawn(pathOf('nginx') ?? '', ['-p', home, '-c', file, '-e', join(home, 'error.log')], {
    stdio: 'ignore',
  })
  onTestFinished(async () => {
    const exited = once(nginx, 'exit')
    if (nginx.exitCode === null && nginx.kill('SIGTERM')) await exited
  })
  await untilListening(ladePort, 60_000)
  await untilListening(port, 10_000)
  return { port, ca: readFileSync(certificate.cert), ladeUrl: `http://127.0.0.1:${ladePort}` }
}

describeScenario(
  {
    id: 'https',
    name: 'behind nginx with deploy/nginx/lade-https.conf',
    needs: [program('nginx', 'nginx-light'), program('openssl', 'openssl')],
  },
  () => {
    test('the gateway and the router speak HTTP/2, and the router names the address that answers', async () => {
      const { port, ca, ladeUrl } = await startSite()
      const content = newContent(1000)
      const url = new URL(`/api/upload?cid=${content.cid}`, ladeUrl)
      const uploaded = await fetch(url, {
        method: 'PUT',
        body: Uint8Array.from(content.bytes()),
        headers: { 'content-type': 'a/b' },
      })
      expect(uploaded.status).toBe(200)
      const session = connect(`https://127.0.0.1:${port}`, { ca, servername: NAME })
      onTestFinished(() => session.close())
      const get = async (path: string): Promise<{ status: unknown; body: Buffer }> => {
        const stream = session.request({ ':path': path, ':authority': `${NAME}:${port}` })
        const [headers] = (await once(stream, 'response')) as [Record<string, unknown>]
        const body = Buffer.concat(await stream.toArray())
        return { status: headers[':status'], body }
      }
      expect(await get('/ipfs/bafkqaaa?format=raw')).toEqual({ status: 200, body: Buffer.alloc(0) })
      expect(session.alpnProtocol).toBe('h2')
      const cid = `f01551220${content.cid}`
      expect((await get(`/ipfs/${cid}?format=raw`)).body).toEqual(Buffer.from(content.bytes()))
      const { Providers } = JSON.parse(String((await get(`/routing/v1/providers/${cid}`)).body))
      expect(Providers[0].Addrs).toEqual([`/dns4/${NAME}/tcp/${port}/tls/http`])
    })
  },
)
