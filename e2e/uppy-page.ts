import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

/** Shown by a page of another origin than the service: an uploader as a site would have it. */
const SCRIPT = `
import Uppy from '@uppy/core'
import Dashboard from '@uppy/dashboard'
import Tus from '@uppy/tus'

const { endpoint, token } = Object.fromEntries(new URLSearchParams(location.search))
const state = { sentBytes: 0, lastBytes: 0, cids: [], failed: [] }
globalThis.uploads = state
const uppy = new Uppy()
uppy.use(Dashboard, { inline: true, target: '#dashboard' })
uppy.use(Tus, { endpoint, headers: { Authorization: 'Bearer ' + token }, retryDelays: Array(200).fill(300) })
uppy.on('upload-progress', (file, { bytesUploaded }) => {
  state.sentBytes += Math.max(0, bytesUploaded - state.lastBytes)
  state.lastBytes = bytesUploaded
})
uppy.on('upload-success', (file, { body }) => state.cids.push(body?.xhr?.getResponseHeader('X-Cid') ?? null))
uppy.on('upload-error', (file, error) => state.failed.push(String(error)))
`

export interface UppyPage {
  /** @param token - of whoever uploads. */
  urlFor(request: { readonly endpoint: string; readonly token: string }): string
  close(): void
}

/** Serves a page with Uppy's Dashboard and its Tus plugin, as they come from npm. */
export async function serveUppyPage(): Promise<UppyPage> {
  const entry = fileURLToPath(new URL('./uppy-entry.js', import.meta.url))
  const bundle = await rolldown({
    input: entry,
    platform: 'browser',
    logLevel: 'silent',
    plugins: [
      {
        name: 'entry',
        resolveId: (id) => (id === entry ? entry : null),
        load: (id) => (id === entry ? SCRIPT : null),
      },
    ],
  })
  const { output } = await bundle.generate({ format: 'esm', codeSplitting: false })
  const page =
    '<!doctype html><title>Uppy</title><div id="dashboard"></div><script type="module" src="uppy.js"></script>'
  const server = createServer((request, response) => {
    const isScript = request.url === '/uppy.js'
    response.writeHead(200, { 'Content-Type': isScript ? 'text/javascript' : 'text/html; charset=utf-8' })
    response.end(isScript ? output[0].code : page)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    urlFor: (request) => `http://127.0.0.1:${port}/?${new URLSearchParams({ ...request })}`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
