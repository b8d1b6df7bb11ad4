import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const RECOMMENDED = fileURLToPath(new URL('../deploy/nginx/lade.conf', import.meta.url))

export interface ProxyConfigurationOptions {
  /** Where nginx may keep what it needs while it runs. */
  readonly home: string
  readonly port: number
  readonly instances: readonly URL[]
  readonly logFile: string
}

/**
 * The text of an `nginx.conf` around `deploy/nginx/lade.conf`, in which only the port, the addresses of the instances and the
 * path of the log are other ones.
 *
 * @throws {Error} when that file no longer has what is to be replaced.
 */
export function proxyConfiguration({ home, port, instances, logFile }: ProxyConfigurationOptions): string {
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  return `
daemon off;
${user}
pid "${join(home, 'nginx.pid')}";
error_log "${logFile}" crit;
worker_processes 1;
events { worker_connections 4096; }
http {
  client_body_temp_path "${join(home, 'body')}";
  proxy_temp_path "${join(home, 'proxy')}";
  fastcgi_temp_path "${join(home, 'fastcgi')}";
  uwsgi_temp_path "${join(home, 'uwsgi')}";
  scgi_temp_path "${join(home, 'scgi')}";
  # Callers choose their addresses, as behind a load balancer that names them.
  set_real_ip_from 127.0.0.1;
  real_ip_header X-Forwarded-For;
  real_ip_recursive on;
${recommended({ home, port, instances })}
}
`
}

function recommended({ home, port, instances }: Omit<ProxyConfigurationOptions, 'logFile'>): string {
  const replacements: readonly (readonly [RegExp, (match: string, ...groups: string[]) => string])[] = [
    [
      /^( *server) lade-1:8080( [^;]*;)$/gm,
      (_, before, after) => instances.map(({ host }) => `${before} ${host}${after}`).join('\n'),
    ],
    [/^ *server lade-2:8080 [^;]*;$/gm, () => ''],
    [/^( *)listen 80;$/gm, (_, indent) => `${indent}listen 127.0.0.1:${port} backlog=1024;`],
    [/^( *)access_log [^ ;]+/gm, (_, indent) => `${indent}access_log "${join(home, 'access.log')}"`],
  ]
  let text = readFileSync(RECOMMENDED, 'utf8')
  for (const [pattern, replacement] of replacements) {
    if (text.search(pattern) < 0) throw new Error(`${RECOMMENDED} has nothing like ${pattern}`)
    text = text.replace(pattern, replacement)
  }
  return text
}
