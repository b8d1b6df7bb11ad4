const DEFAULT_URL = 'http://127.0.0.1:8080'
/** What header values can be made of without being encoded, and no white space. */
const TOKEN = /^[\x21-\x7e]+$/

/** The address of a service without a slash at its end. @throws {TypeError} for what is no such address. */
export function baseUrlOf(url: string | URL = DEFAULT_URL): string {
  const parsed = URL.canParse(String(url)) ? new URL(url) : undefined
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol))
    throw new TypeError('url must start with http:// or https://, such as http://127.0.0.1:8080')
  if (parsed.username !== '' || parsed.password !== '')
    throw new TypeError('The URL of a service must not contain credentials')
  return `${parsed.origin}${parsed.pathname.replace(/\/+$/, '')}`
}

/** The token as it is. @throws {TypeError} for what no header can carry; the message does not repeat it. */
export function checkedToken(token: string): string {
  if (!TOKEN.test(token)) {
    throw new TypeError('token must be pk_live_… alone: without spaces, line breaks and the word Bearer')
  }
  return token
}
