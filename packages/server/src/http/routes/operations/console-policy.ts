/** A name or an IPv4 address, with or without a port. A policy has no form for an IPv6 address. */
const NAMED_HOST = /^[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?(?::\d{1,5})?$/i

export interface ConsolePolicyOptions {
  /** The hosts that the page may have been opened by, as in `Host`. */
  readonly hosts: readonly string[]
  /** The origin of the files, where they have one of their own. */
  readonly contentOrigin: string | undefined
}

/** True for a host that a policy can name. */
export function canBeNamed(host: string): boolean {
  return NAMED_HOST.test(host)
}

/**
 * The policy of the console: it runs what is in its own folder and nothing else of this host, where files of anybody are below `/p/`.
 *
 * `'self'` would let those files run; so scripts, workers and styles name the folder. A source without a scheme has that of the page. Frames
 * and media are files of this service, which come with a policy of their own.
 */
export function consolePolicy({ hosts, contentOrigin }: ConsolePolicyOptions): string {
  const folder = hosts.map((host) => `${host}/console/`).join(' ')
  // Links have the host of the public URL, whichever host the page was opened by.
  const content = ["'self'", ...hosts, ...(contentOrigin === undefined ? [] : [contentOrigin])].join(' ')
  return [
    "default-src 'none'",
    // WebAssembly hashes the leaves of pieces, where a proof is checked; it turns no text into code.
    `script-src ${folder} 'wasm-unsafe-eval'`,
    `worker-src ${folder}`,
    `style-src ${folder}`,
    // Wallets give their icon as a data URL.
    `img-src ${content} data:`,
    `frame-src ${content}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types default',
  ].join('; ')
}
