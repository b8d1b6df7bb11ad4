import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:http2'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Caller } from '../acceptance/caller.ts'
import { stageFolder } from '../acceptance/gateway/folders.ts'
import { newContent } from '../faults/content.ts'
import { describeScenario, pathOf, program } from '../faults/harness.ts'
import { tempDirectory } from '../faults/temp-directory.ts'
import { startChild } from '../services/child.ts'
import { freePort } from '../services/free-port.ts'
import { untilListening } from '../services/until.ts'
import { ROOT, textOf } from './deploy-files.ts'

const NAME = 'lade.example'
const DOMAIN = 'lade-sites.example'

/** nginx with `lade.conf`, `lade-https.conf` included as it says, and `lade-sites.conf` beside it, in front of one instance. */
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
      LADE_SITES_URL: `https://*.ipfs.${DOMAIN}:${port}`,
      LADE_TRUSTED_PROXIES: '127.0.0.1',
    },
  })
  onTestFinished(async () => void (await lade.end('SIGTERM', 30_000)))
  const certificate = { cert: join(home, 'fullchain.pem'), key: join(home, 'privkey.pem') }
  const subject = ['-subj', `/CN=${NAME}`, '-addext', `subjectAltName=DNS:${NAME},DNS:${DOMAIN},DNS:*.ipfs.${DOMAIN}`]
  const args = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject]
  execFileSync('openssl', [...args, '-keyout', certificate.key, '-out', certificate.cert], { stdio: 'ignore' })

  mkdirSync(join(home, 'log'))
  const withPortAndCertificate = (text: string): string =>
    text
      .replace('listen 443 ssl http2;', `listen 127.0.0.1:${port} ssl http2;`)
      .replace('listen [::]:443 ssl http2;', '')
      .replace(/^( *)ssl_certificate .*$/m, `$1ssl_certificate ${certificate.cert};`)
      .replace(/^( *)ssl_certificate_key .*$/m, `$1ssl_certificate_key ${certificate.key};`)
      .replaceAll('/var/log/nginx', join(home, 'log'))
  writeFileSync(join(home, 'https.conf'), withPortAndCertificate(textOf('nginx/lade-https.conf')))
  const sites = withPortAndCertificate(textOf('nginx/lade-sites.conf'))
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
    `daemon off; ${user} pid ${home}/pid; worker_processes 1; events {} http { ${folders.join(' ')}\n${site}\n${sites}\n}`,
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

    test('each site has a host of its own, with HTTP/2, and the domain leads to it', async () => {
      const { port, ca, ladeUrl } = await startSite()
      const root = await stageFolder(new Caller(new URL(ladeUrl), new URL(ladeUrl), {}), {
        'index.html': 'home',
        _redirects: '/* /index.html 200',
      })
      const host = `${root}.ipfs.${DOMAIN}`
      const get = async (
        servername: string,
        path: string,
      ): Promise<{ status: unknown; location: unknown; body: string }> => {
        const session = connect(`https://127.0.0.1:${port}`, { ca, servername })
        onTestFinished(() => session.close())
        const stream = session.request({
          ':path': path,
          ':authority': `${servername}:${port}`,
          'x-forwarded-host': 'evil.example',
          'x-forwarded-proto': 'http',
        })
        const [headers] = (await once(stream, 'response')) as [Record<string, unknown>]
        expect(session.alpnProtocol).toBe('h2')
        return {
          status: headers[':status'],
          location: headers.location,
          body: String(Buffer.concat(await stream.toArray())),
        }
      }
      expect(await get(host, '/a/client-side/path')).toEqual({ status: 200, location: undefined, body: 'home' })
      for (const name of [DOMAIN, NAME]) {
        const moved = await get(name, `/ipfs/${root}/a?b=c`)
        expect([moved.status, moved.location]).toEqual([301, `https://${host}:${port}/a?b=c`])
      }
      expect((await get(DOMAIN, '/api/info')).status).toBe(404)
      expect((await get(NAME, '/api/info')).status).toBe(200)
    })
  },
)
