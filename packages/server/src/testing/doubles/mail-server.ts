import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

/** A mail as it arrived. */
export interface ReceivedMail {
  /** Of the envelope, which is whom a server delivers to whatever the header says. */
  readonly from: string
  readonly to: readonly string[]
  /** True when it came over TLS. */
  readonly isEncrypted: boolean
  /** The user that had logged in. */
  readonly user: string | undefined
  /** The lines as they were sent. */
  readonly raw: string
  readonly mail: Email
}

/** An SMTP server in this process, on every IPv4 address of this machine, so that 0.0.0.0 reaches it as no loopback. */
export interface MailServer {
  readonly port: number
  readonly received: readonly ReceivedMail[]
  /** Every password that somebody offered. */
  readonly offeredPasswords: readonly string[]
  /** What a service has to be told to sign its users in by mail that comes here. */
  readonly settings: Readonly<Record<string, string>>
  /** The code of the latest mail to this address. */
  codeFor(address: string): string
  /** How many mails came for this address. */
  countFor(address: string): number
  close(): Promise<void>
}

/** Offers neither STARTTLS nor a login, unless `options` say so, and takes any mail. */
export async function openMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const received: ReceivedMail[] = []
  const offeredPasswords: string[] = []
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS', 'AUTH'],
    authOptional: true,
    allowInsecureAuth: true,
    logger: false,
    closeTimeout: 100,
    onAuth({ username, password }, _session, done) {
      offeredPasswords.push(password ?? '')
      if (password === 'right') done(null, { user: username })
      else done(new Error('Invalid username or password'))
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', async () => {
        const bytes = Buffer.concat(chunks)
        const { mailFrom, rcptTo } = session.envelope
        received.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          isEncrypted: session.secure,
          user: session.user as string | undefined,
          raw: bytes.toString('latin1'),
          mail: await PostalMime.parse(bytes),
        })
        done()
      })
    },
    ...options,
  })
  // A client that does not like the server's certificate is an error of the connection, and none of the test.
  server.on('error', () => {})
  const { server: listener } = server
  server.listen(0, '0.0.0.0')
  await once(listener, 'listening')
  const { port } = listener.address() as AddressInfo
  return {
    port,
    received,
    settings: {
      LADE_SIGNUP: 'email',
      LADE_SMTP_URL: `smtp://127.0.0.1:${port}`,
      LADE_MAIL_FROM: 'lade@mail.example',
    },
    offeredPasswords,
    codeFor(address) {
      const text = received.findLast(({ to }) => to.includes(address))?.mail.text
      const code = /^The code is (\d{6})$/m.exec(text ?? '')?.[1]
      if (code === undefined) throw new TypeError(`no code was mailed to ${address}`)
      return code
    },
    countFor: (address) => received.filter(({ to }) => to.includes(address)).length,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

/** A code of six digits that is another one. */
export function otherThan(code: string): string {
  return String((Number(code) + 1) % 1_000_000).padStart(6, '0')
}
