import { isIP } from 'node:net'
import { SecretString } from '@lade/node/settings'
import { z } from 'zod'
import { isHostName, type SettingForm } from './setting-forms.ts'

/** Where mail is handed in. */
export interface SmtpServer {
  /** A name or an address, IPv6 without brackets. */
  readonly host: string
  readonly port: number
  /** True where TLS comes before the first word. */
  readonly isTls: boolean
  readonly credentials?: { readonly user: string; readonly password: SecretString }
}

/** Whom a mail comes from. */
export interface MailSender {
  readonly name?: string
  readonly address: string
}

/** RFC 8314 for submission, with TLS from the start and without. */
const DEFAULT_PORTS = { 'smtps:': 465, 'smtp:': 587 } as const

const NAMED = /^(?<name>[^"<>\p{Cc}]{1,100}?)\s*<(?<address>[^<>\s]+)>$/u
const ATOMS = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i

/** `smtp://` or `smtps://`, perhaps a user and a password (percent-encoded where they need it), a host, perhaps a port. */
export const smtpForm: SettingForm<SmtpServer> = {
  accepts:
    'an smtp or smtps URL, with user and password if the server needs them, such as smtps://user:password@mail.example:465',
  schema: z.string().transform((text, context) => parseSmtpUrl(text) ?? refuse(context)),
}

/** An address, or a name with an address in angle brackets. */
export const mailFromForm: SettingForm<MailSender> = {
  accepts: 'an email address, or a name and an address, such as Lade <lade@mail.example>',
  schema: z.string().transform((text, context) => parseSender(text) ?? refuse(context)),
}

function parseSmtpUrl(text: string): SmtpServer | undefined {
  if (/\s/.test(text) || !URL.canParse(text)) return undefined
  const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(text)
  if (protocol !== 'smtp:' && protocol !== 'smtps:') return undefined
  const host = hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  if (isIP(host) === 0 && !isHostName(host)) return undefined
  if (`${search}${hash}` !== '' || !['', '/'].includes(pathname) || port === '0') return undefined
  const server = { host, port: port === '' ? DEFAULT_PORTS[protocol] : Number(port), isTls: protocol === 'smtps:' }
  if (username === '' && password === '') return server
  const [user, secret] = [decode(username), decode(password)]
  if (user === undefined || secret === undefined) return undefined
  return { ...server, credentials: { user, password: new SecretString(secret) } }
}

/** `undefined` for what does not decode, is empty, or holds what no line of SMTP can. */
function decode(text: string): string | undefined {
  try {
    const decoded = decodeURIComponent(text)
    return decoded === '' || /\p{Cc}/u.test(decoded) ? undefined : decoded
  } catch (error) {
    if (error instanceof URIError) return undefined
    throw error
  }
}

function parseSender(text: string): MailSender | undefined {
  const { name, address = text } = NAMED.exec(text)?.groups ?? {}
  const [local = '', host = '', ...rest] = address.split('@')
  if (rest.length > 0 || address.length > 254 || !ATOMS.test(local) || !isHostName(host)) return undefined
  return name === undefined || name.trim() === '' ? { address } : { name: name.trim(), address }
}

function refuse(context: z.RefinementCtx): never {
  context.addIssue({ code: 'custom' })
  return z.NEVER
}
