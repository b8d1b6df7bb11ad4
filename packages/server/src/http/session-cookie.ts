/** The cookie of a session, as a service of this public URL sets and reads it. */
export interface SessionCookie {
  readonly name: string
  /** What a `Cookie` header says under this name, once for each time that it is there. */
  read(header: string | undefined): readonly string[]
  /** The value of a `Set-Cookie` header. */
  set(secret: string, maxAgeSeconds: number): string
  clear(): string
}

/**
 * On https the name begins with `__Host-`: browsers then take the cookie from this host alone, by https alone, and no other host of the
 * domain can put one of its own in its place. Such a cookie has the path `/`; only the API reads it.
 *
 * Browsers send it with requests of this site's own pages alone, and show it to no script.
 */
export function sessionCookieOf(publicUrl: string): SessionCookie {
  const { protocol, pathname } = new URL(publicUrl)
  const isHttps = protocol === 'https:'
  const name = isHttps ? '__Host-lade-session' : 'lade-session'
  const attributes = `${isHttps ? 'Path=/; Secure' : `Path=${pathname.replace(/\/$/, '')}/api`}; HttpOnly; SameSite=Strict`
  return {
    name,
    read: (header = '') =>
      header.split(';').flatMap((pair) => {
        const [key = '', ...value] = pair.trim().split('=')
        return key === name ? [value.join('=')] : []
      }),
    set: (secret, maxAgeSeconds) => `${name}=${secret}; Max-Age=${maxAgeSeconds}; ${attributes}`,
    clear: () => `${name}=; Max-Age=0; ${attributes}`,
  }
}
