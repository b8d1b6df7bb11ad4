import { LadeError } from '@lade/core/errors'
import { createTransport } from 'nodemailer'
import type { Mail, Mailer, SendOutcome } from '../../mailer.ts'

/** The server, the sender, and the timeouts. */
export interface SmtpMailerOptions {
  readonly server: {
    readonly host: string
    readonly port: number
    /** True where TLS comes before the first word. */
    readonly isTls: boolean
    readonly credentials?: { readonly user: string; readonly password: { reveal(): string } }
  }
  readonly from: { readonly name?: string; readonly address: string }
  /** For each step, and twice that for the whole. @default 10000 */
  readonly timeoutMs?: number
}

/** More at once would be a flood, and wait for each other anyway. */
const MAXIMUM_AT_ONCE = 32

/** When a caller may try again after the server could not be used. */
const RETRY_AFTER_SECONDS = 60

/**
 * Hands mail to an SMTP server, one connection a mail.
 *
 * TLS begins with the connection (`isTls`) or by STARTTLS where the server offers it. A password goes to another machine
 * over TLS only: a server there that does not offer STARTTLS is not used. Certificates are checked, except on loopback, where
 * the machine talks to itself and plain text would do. `localhost` is 127.0.0.1, whatever a resolver says.
 */
export function openSmtpMailer({ server, from, timeoutMs = 10_000 }: SmtpMailerOptions): Mailer {
  const host = server.host === 'localhost' ? '127.0.0.1' : server.host
  const isHere = isLoopback(host)
  const { credentials } = server
  const transport = createTransport({
    host,
    port: server.port,
    secure: server.isTls,
    requireTLS: credentials !== undefined && !isHere && !server.isTls,
    tls: { rejectUnauthorized: !isHere, minVersion: 'TLSv1.2' },
    ...(credentials !== undefined && { auth: { user: credentials.user, pass: credentials.password.reveal() } }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    socketCloseTimeout: 0,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const closing = new AbortController()
  let underWay = 0

  async function hand({ to, subject, text }: Mail): Promise<SendOutcome> {
    try {
      await transport.sendMail({
        from: from.name === undefined ? from.address : { name: from.name, address: from.address },
        to,
        subject,
        text,
        headers: { 'Auto-Submitted': 'auto-generated' },
        signal: AbortSignal.any([closing.signal, AbortSignal.timeout(2 * timeoutMs)]),
      })
      return { outcome: 'taken' }
    } catch (error) {
      if (!(error instanceof Error)) throw error
      const reason = reasonOf(error, to)
      if (isRefusal(error)) return { outcome: 'refused', reason }
      throw failed(new Error(`The mail server ${host}:${server.port} is not usable: ${reason}`))
    }
  }

  return {
    async send(mail) {
      if (underWay >= MAXIMUM_AT_ONCE) throw failed(new Error(`${underWay} mails are already being sent.`))
      underWay += 1
      try {
        return await hand(mail)
      } finally {
        underWay -= 1
      }
    },
    close: () => closing.abort(),
  }
}

/** The server's own word on this mail: its recipient or its text. Anything else is about the way to the server. */
function isRefusal(error: Error & { code?: unknown; responseCode?: unknown }): boolean {
  return (error.code === 'EENVELOPE' || error.code === 'EMESSAGE') && typeof error.responseCode === 'number'
}

/** One line for the log, without the address that the mail was for. */
function reasonOf(error: Error & { code?: unknown }, to: string): string {
  const text = error.message.replaceAll(to, '[recipient]').replace(/\p{Cc}+/gu, ' ')
  return `${typeof error.code === 'string' ? `${error.code}, ` : ''}${text.slice(0, 300)}`
}

function isLoopback(host: string): boolean {
  return host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host)
}

function failed(cause: Error): LadeError<'mail_failed'> {
  return new LadeError('mail_failed', { retryAfterSeconds: RETRY_AFTER_SECONDS }, { cause })
}
