import { mkdir, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { BenchRun } from '../bench-run.ts'
import type { RunningServer } from '../running-processes.ts'

export interface NginxOptions {
  /** Folder whose files are served. */
  root: string
  /** Lines for the `server` block. */
  directives?: readonly string[]
}

const READY_TIMEOUT_MS = 10_000

/**
 * Starts a private nginx with one worker and sendfile, no access log, connections kept for ever, all its own files
 * under `dir`. Nothing of the installed configuration is read.
 */
export async function startNginx(run: BenchRun, dir: string, options: NginxOptions): Promise<RunningServer> {
  const port = await freePort()
  await mkdir(`${dir}/nginx`, { recursive: true })
  await writeFile(`${dir}/nginx/nginx.conf`, configuration(`${dir}/nginx`, port, options))
  const server = await run.processes.startServer(
    { program: 'nginx', args: ['-e', 'stderr', '-p', `${dir}/nginx`, '-c', `${dir}/nginx/nginx.conf`] },
    `http://127.0.0.1:${port}`,
  )
  try {
    await untilListening(port)
  } catch (error) {
    await server.stop()
    throw error
  }
  return server
}

function configuration(own: string, port: number, { root, directives = [] }: NginxOptions): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path "${own}";`)
  return [
    // As root, the worker would otherwise drop to an account that cannot read the temporary folder.
    ...(process.getuid?.() === 0 ? ['user root;'] : []),
    'daemon off; worker_processes 1; error_log stderr warn;',
    `pid "${own}/nginx.pid"; lock_file "${own}/nginx.lock";`,
    'events { worker_connections 1024; }',
    'http {',
    ...temporary,
    'access_log off; sendfile on; keepalive_requests 1000000000; default_type application/octet-stream;',
    `server { listen 127.0.0.1:${port}; root "${root}";`,
    ...directives,
    '} }',
    '',
  ].join('\n')
}

/** nginx cannot choose a port itself. Another process may take this one in between; the start then fails. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      if (address === null || typeof address === 'string') throw new TypeError('a TCP server has a port')
      probe.close(() => resolve(address.port))
    })
  })
}

async function untilListening(port: number): Promise<void> {
  const deadline = performance.now() + READY_TIMEOUT_MS
  while (!(await accepts(port))) {
    if (performance.now() > deadline) throw new Error('nginx did not start to listen')
    await sleep(20)
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
