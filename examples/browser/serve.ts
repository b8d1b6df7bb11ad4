/**
 * Builds the client for browsers, and serves this folder with it on loopback: `node serve.ts [PORT]`, on any free port
 * where none is named.
 */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
}

execFileSync(process.execPath, [join(ROOT, 'tools/build-client.ts')], { stdio: ['ignore', 'ignore', 'inherit'] })

/** Whatever is served, by its path. A change is served after the next start. */
const files = new Map<string, Buffer>()
for (const folder of [import.meta.dirname, join(ROOT, 'packages/client/dist')]) {
  for (const name of readdirSync(folder))
    if (extname(name) in TYPES) files.set(`/${name}`, readFileSync(join(folder, name)))
}

const server = createServer((request, response) => {
  const { pathname } = new URL(request.url ?? '/', 'http://localhost')
  const path = pathname === '/' ? '/index.html' : pathname
  const body = files.get(path)
  if (body === undefined) console.error(`There is no ${path}`)
  response.writeHead(body === undefined ? 404 : 200, { 'Content-Type': TYPES[extname(path)] ?? 'text/plain' }).end(body)
})
server.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () => {
  console.log(`The page is at http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
})
