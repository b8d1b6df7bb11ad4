/** Which hosts this prover calls. Each entry is a host name, optionally with `:port` or `:*`. */
export interface AllowedHosts {
  /**
   * Reached over https, at public addresses only. `*.example.org` stands for every name below it, `*` for every name.
   *
   * @default none
   */
  readonly publicHosts?: readonly string[]
  /**
   * Reached over http too, whatever their address, such as `lade:8080` or `127.0.0.1:*`. No patterns: who may stand behind a
   * firewall is said by name.
   *
   * @default none
   */
  readonly privateHosts?: readonly string[]
}

const ENTRY = /^(\*|(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(?::(\d{1,5}|\*))?$/i

/** How a host may be reached. */
export type Reach = 'public' | 'private'

/** True for an entry of {@link AllowedHosts}. */
export function isHostEntry(entry: string): boolean {
  return ENTRY.test(entry)
}

/**
 * How the host of a URL may be reached; undefined when it may not.
 *
 * Names are compared as `URL` writes them, so 127.1 and 0x7f000001 are 127.0.0.1 here. An entry without a port means the
 * scheme's own. URLs with a user name or password are never allowed.
 */
export function reachOf(url: URL, { publicHosts = [], privateHosts = [] }: AllowedHosts): Reach | undefined {
  if (url.username !== '' || url.password !== '') return undefined
  const isHttp = url.protocol === 'http:' || url.protocol === 'https:'
  if (isHttp && privateHosts.some((entry) => !entry.startsWith('*') && matches(entry, url))) return 'private'
  return url.protocol === 'https:' && publicHosts.some((entry) => matches(entry, url)) ? 'public' : undefined
}

function matches(entry: string, url: URL): boolean {
  const [, host = '', port] = ENTRY.exec(entry.toLowerCase()) ?? []
  // `URL` leaves the scheme's own port out.
  const ownPort = url.protocol === 'https:' ? '443' : '80'
  if (port !== '*' && (port ?? ownPort) !== (url.port || ownPort)) return false
  if (host === '*') return true
  return host.startsWith('*.') ? url.hostname.endsWith(host.slice(1)) : url.hostname === host && host !== ''
}
