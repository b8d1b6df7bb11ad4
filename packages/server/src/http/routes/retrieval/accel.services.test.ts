import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { carOf, directoryDag, fileDag, patternBytes } from '../../../retrieval/testing-dags.ts'
import { bearer, type RunningService, runService } from '../../../testing/running/running-service.ts'

const NGINX = '/usr/sbin/nginx'
const CONFIG = new URL('../../../../../../deploy/nginx/lade-accel.conf', import.meta.url)

/** Set by whoever counts a skipped suite as a failure. */
const isRequired = process.env.LADE_SERVICES === 'required'

/** A line of the access log: who sent how many bytes. */
interface Sent {
  readonly path: string
  readonly status: string
  readonly sentBytes: number
  /** Of each answer of Lade to this request. */
  readonly ladeBytes: readonly number[]
}

interface Nginx {
  /** In front of the files as they are. */
  readonly url: string
  /** With another directory in place of that of the files. */
  readonly blindUrl: string
  /** How the last request to `path` was answered, once it is in the log. */
  sent(path: string): Promise<Sent>
  stop(): Promise<void>
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return address.port
}

/** Starts nginx in a directory of its own, with the published configuration included as it says. */
async function startNginx(ladeUrl: string, objectsDir: string): Promise<Nginx> {
  const dir = mkdtempSync(join(tmpdir(), 'lade-nginx-'))
  for (const name of ['temp', 'nothing']) mkdirSync(join(dir, name))
  const published = readFileSync(CONFIG, 'utf8')
  const withFiles = (path: string): string => {
    if (!published.includes('alias /var/lib/lade/objects/;'))
      throw new Error('the configuration has no alias to replace')
    return published.replace('alias /var/lib/lade/objects/;', `alias ${path}/;`)
  }
  writeFileSync(join(dir, 'accel.conf'), withFiles(objectsDir))
  writeFileSync(join(dir, 'blind.conf'), withFiles(join(dir, 'nothing')))
  const [port, blindPort] = [await freePort(), await freePort()]
  const server = (listen: number, file: string): string => `
    server {
      listen 127.0.0.1:${listen};
      client_max_body_size 0;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $remote_addr;
      gzip on;
      gzip_types *;
      include ${join(dir, file)};
      location / { proxy_pass http://lade; gzip off; }
    }`
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${dir}/temp/${kind};`,
  )
  writeFileSync(
    join(dir, 'nginx.conf'),
    `${process.getuid?.() === 0 ? 'user root;' : ''}
    daemon off;
    worker_processes 1;
    pid ${dir}/nginx.pid;
    events {}
    http {
      ${temp.join('\n')}
      log_format sent '$request_uri|$status|$body_bytes_sent|$upstream_response_length';
      access_log ${dir}/access.log sent;
      upstream lade { server ${new URL(ladeUrl).host}; keepalive 4; }
      ${server(port, 'accel.conf')}
      ${server(blindPort, 'blind.conf')}
    }`,
  )
  const args = ['-p', dir, '-c', join(dir, 'nginx.conf'), '-e', join(dir, 'error.log')]
  const child = spawn(NGINX, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  const url = `http://127.0.0.1:${port}`
  await answering(url, child)
  return {
    url,
    blindUrl: `http://127.0.0.1:${blindPort}`,
    async sent(path) {
      for (let round = 0; round < 100; round += 1) {
        const line = readFileSync(join(dir, 'access.log'), 'utf8')
          .split('\n')
          .findLast((text) => text.startsWith(`${path}|`))
        if (line !== undefined) return readSent(line)
        await sleep(20)
      }
      throw new Error(`${path} is not in the log`)
    },
    async stop() {
      if (child.exitCode === null) {
        child.kill('SIGTERM')
        await once(child, 'exit')
      }
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

async function answering(url: string, child: ChildProcess): Promise<void> {
  for (let round = 0; round < 250; round += 1) {
    if (child.exitCode !== null) throw new Error(`nginx ended with ${child.exitCode}`)
    try {
      await (await fetch(`${url}/healthz`)).arrayBuffer()
      return
    } catch {
      // Nobody listens yet.
      await sleep(20)
    }
  }
  throw new Error('nginx does not listen')
}

function readSent(line: string): Sent {
  const [path = '', status = '', sent = '', lade = ''] = line.split('|')
  return { path, status, sentBytes: Number(sent), ladeBytes: lade.split(/ ?[,:] ?/).map(Number) }
}

describe.skipIf(!existsSync(NGINX) && !isRequired)('nginx that sends the files of Lade', () => {
  const bytes = patternBytes(3_000_000, 3)
  const cid = sha256Hex(bytes)
  const path = `/p/${cid}`
  let service: RunningService
  let nginx: Nginx
  let token: string
  beforeAll(async () => {
    service = await runService({ env: { LADE_ACCEL: '/lade-blobs/', LADE_TRUSTED_PROXIES: '127.0.0.1' } })
    nginx = await startNginx(service.url, join(service.dataDir, 'objects'))
    token = (await service.signUp()).token
    await service.upload(bytes, {
      headers: { 'content-type': 'text/plain; x="y"', 'x-filename': encodeURIComponent('größe 1.txt') },
    })
  })
  afterAll(async () => {
    await nginx?.stop()
    await service?.remove()
  })

  const get = async (target: string, init: RequestInit = {}) => {
    const response = await fetch(target, init)
    return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
  }
  /** Headers without those that are of the connection or of the request. */
  const comparable = (headers: Headers): Record<string, string> => {
    const all = Object.fromEntries(headers)
    for (const name of ['connection', 'keep-alive', 'server', 'date', 'x-request-id']) delete all[name]
    return all
  }
  /** The same as Lade itself answers, header by header, sent by nginx alone. */
  const expectSame = async (target: string, headers: Record<string, string> = {}) => {
    const own = await get(`${service.url}${target}`, { headers })
    const sent = await get(`${nginx.url}${target}`, { headers })
    expect(sent.status).toBe(own.status)
    expect(comparable(sent.headers)).toEqual(comparable(own.headers))
    expect(sent.headers.get('x-request-id')).toMatch(/^[0-9a-f]{12}-[0-9a-z]+$/)
    expect(sent.bytes.equals(own.bytes)).toBe(true)
    return sent
  }

  it('answers the same as Lade, to the last header, and reads the bytes by itself', async () => {
    const { status, bytes: given } = await expectSame(path)
    expect([status, given.equals(bytes)]).toEqual([200, true])
    expect(await nginx.sent(path)).toMatchObject({ status: '200', sentBytes: bytes.length, ladeBytes: [0] })
  })

  it.each(['?download=true', '?filename=x.bin', '?filename=x.bin&download=true'])('does so for %s', async (query) => {
    await expectSame(`${path}${query}`)
    expect((await nginx.sent(`${path}${query}`)).ladeBytes).toEqual([0])
  })

  it('does so for a token in the query, with what is said about it', async () => {
    const { headers } = await expectSame(`${path}?token=${token}`)
    expect([headers.get('cache-control'), headers.has('deprecation'), headers.has('link')]).toEqual([
      'no-store',
      true,
      true,
    ])
    expect((await nginx.sent(`${path}?token=${token}`)).ladeBytes).toEqual([0])
  })

  it.each([
    'bytes=0-0',
    'bytes=0-',
    'bytes=1000000-1999999',
    'bytes=2999999-',
    'bytes=2999999-9999999',
    'bytes=-1',
    'bytes=-9999999',
    'BYTES=5-9',
  ])('cuts the range %s as Lade does', async (range) => {
    const target = `${path}?filename=${encodeURIComponent(range)}`
    const { status } = await expectSame(target, { range })
    expect(status).toBe(206)
    expect((await nginx.sent(target)).ladeBytes).toEqual([0])
  })

  it('goes on by If-Range, only with the tag of the file', async () => {
    const same = await expectSame(path, { range: 'bytes=7-9', 'if-range': `"${cid}"` })
    expect(same.status).toBe(206)
    // An hour from now: this very second may be the one of Last-Modified.
    const otherDates = [new Date(Date.now() + 3_600_000), new Date(0)].map((date) => date.toUTCString())
    for (const ifRange of ['"other"', `W/"${cid}"`, ...otherDates]) {
      expect((await expectSame(path, { range: 'bytes=7-9', 'if-range': ifRange })).status).toBe(200)
    }
  })

  it.each<[number, Record<string, string>]>([
    [304, { 'if-none-match': `"${cid}"` }],
    [304, { 'if-none-match': '*' }],
    [200, { 'if-none-match': '"other"' }],
    [416, { range: 'bytes=3000000-' }],
    [200, { range: 'bytes=0-1,5-6' }],
    [200, { range: 'bytes=5-2' }],
    [200, { range: 'lines=1-2' }],
    [200, { 'if-match': `"${cid}"` }],
    [412, { 'if-match': '"other"' }],
    [304, { 'if-modified-since': new Date(Date.now() + 86_400_000).toUTCString() }],
    [200, { 'if-modified-since': new Date(0).toUTCString() }],
    [412, { 'if-unmodified-since': new Date(0).toUTCString() }],
    [200, { 'accept-encoding': 'gzip' }],
  ])('answers %i to %j, as Lade does', async (status, headers) => {
    const own = await get(`${service.url}${path}`, { headers })
    const sent = await get(`${nginx.url}${path}`, { headers })
    expect([sent.status, own.status]).toEqual([status, status])
    expect(sent.headers.get('etag')).toBe(own.headers.get('etag'))
    expect(sent.headers.get('cache-control')).toBe(own.headers.get('cache-control'))
    if (status === 200) expect(sent.bytes.equals(bytes)).toBe(true)
  })

  it('answers HEAD with the length and no bytes', async () => {
    const own = await get(`${service.url}${path}`, { method: 'HEAD' })
    const sent = await get(`${nginx.url}${path}`, { method: 'HEAD' })
    expect([sent.status, sent.headers.get('content-length')]).toEqual([200, '3000000'])
    expect(comparable(sent.headers)).toEqual(comparable(own.headers))
  })

  it('gives a private file to its owner and by share link, and to nobody else', async () => {
    const secret = patternBytes(600_000, 5)
    await service.upload(secret, { token, headers: { 'x-visibility': 'private' } })
    const target = `/p/${sha256Hex(secret)}`
    expect((await get(`${nginx.url}${target}`)).status).toBe(404)
    const own = await expectSame(target, bearer(token))
    expect([own.status, own.headers.get('cache-control')]).toEqual([200, 'private, no-cache'])
    expect((await nginx.sent(target)).ladeBytes).toEqual([0])
    const shared = await service.fetch(`/api/files/${sha256Hex(secret)}/share`, {
      method: 'POST',
      body: JSON.stringify({ ttlSeconds: 60 }),
      headers: { 'content-type': 'application/json', ...bearer(token) },
    })
    const { url } = (await shared.json()) as { readonly url: string }
    const { pathname, search } = new URL(url)
    expect((await expectSame(`${pathname}${search}`)).bytes.equals(secret)).toBe(true)
    await service.fetch(target.replace('/p/', '/api/files/'), { method: 'DELETE', headers: bearer(token) })
    expect((await get(`${nginx.url}${target}`, { headers: bearer(token) })).status).toBe(410)
  })

  it('sends pieces, and leaves small files, blocks and what is inside of a CAR to Lade', async () => {
    const { pieceCid } = (await (await service.upload(patternBytes(400_000, 11))).json()) as { pieceCid: string }
    await expectSame(`/piece/${pieceCid}`)
    expect((await nginx.sent(`/piece/${pieceCid}`)).ladeBytes).toEqual([0])
    const small = patternBytes(100_000, 12)
    await service.upload(small)
    await expectSame(`/p/${sha256Hex(small)}`)
    expect((await nginx.sent(`/p/${sha256Hex(small)}`)).ladeBytes).toEqual([100_000])
    const dag = await fileDag(patternBytes(700_000, 13), { profile: 'unixfs-v0-2015' })
    const directory = await directoryDag({ 'a.bin': patternBytes(700_000, 14) })
    for (const { root, blocks } of [dag, directory]) {
      const headers = { 'content-type': 'application/vnd.ipld.car' }
      await service.upload(await carOf(root, blocks), { cid: root.toString(), headers })
      expect((await expectSame(`/p/${root}`)).status).toBe(200)
    }
    expect((await nginx.sent(`/p/${dag.root}`)).ladeBytes).toEqual([700_000])
    expect((await nginx.sent(`/p/${directory.root}`)).ladeBytes).toEqual([0])
  })

  it('lets nobody ask for the files themselves', async () => {
    for (const target of [`/lade-blobs/${cid.slice(0, 2)}/${cid}`, '/lade-blobs/']) {
      const { status, bytes: answered } = await get(`${nginx.url}${target}`)
      expect([status, JSON.parse(answered.toString()).error]).toEqual([404, 'not_found'])
    }
  })

  it('has Lade read what it cannot open itself, and caches no refusal', async () => {
    const own = await get(`${service.url}${path}`)
    const blind = await get(`${nginx.blindUrl}${path}`)
    expect([blind.status, blind.bytes.equals(bytes)]).toEqual([200, true])
    expect(comparable(blind.headers)).toEqual(comparable(own.headers))
    const part = await get(`${nginx.blindUrl}${path}`, { headers: { range: 'bytes=5-9' } })
    expect([part.status, part.bytes.equals(bytes.subarray(5, 10))]).toEqual([206, true])

    const lost = patternBytes(400_000, 15)
    await service.upload(lost)
    rmSync(join(service.dataDir, 'objects', sha256Hex(lost).slice(0, 2), sha256Hex(lost)))
    const gone = await get(`${nginx.url}/p/${sha256Hex(lost)}`)
    expect([gone.status, gone.headers.get('cache-control')]).toEqual([503, 'no-store'])
    expect(JSON.parse(gone.bytes.toString()).error).toBe('storage_failed')
  })

  it('gives all bytes to whoever asks Lade without it', async () => {
    const { bytes: given, headers } = await get(`${service.url}${path}`)
    expect([given.equals(bytes), headers.has('x-accel-redirect')]).toEqual([true, false])
  })
})
