/**
 * A mail server of this suite's own, on loopback, which a server under test hands its mail to.
 */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer } from 'smtp-server'

export interface Letter {
  /** Of the envelope: whom it goes to, whatever its header says. */
  readonly to: readonly string[]
  readonly raw: string
  readonly mail: Email
}

export interface Mailbox {
  /** The variables that make a server mail to it. */
  readonly env: Record<string, string>
  readonly letters: readonly Letter[]
  /** The letters to one address, in the order in which they came. */
  to(address: string): readonly Letter[]
  close(): Promise<void>
}

/** The only six digits that stand by themselves in the text of a mail. */
export function codeIn(letter: Letter | undefined): string {
  const codes = [...(letter?.mail.text ?? '').matchAll(/(?<!\S)\d{6}(?!\S)/g)].map(([code]) => code)
  const [code] = codes
  if (code === undefined || codes.length > 1) throw new Error(`not one code in: ${letter?.mail.text}`)
  return code
}

/** Another code of six digits. */
export const otherThan = (code: string): string => String((Number(code) + 1) % 1_000_000).padStart(6, '0')

export async function openMailbox(): Promise<Mailbox> {
  const letters: Letter[] = []
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS', 'AUTH'],
    closeTimeout: 100,
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', async () => {
        const bytes = Buffer.concat(chunks)
        const to = session.envelope.rcptTo.map(({ address }) => address)
        letters.push({ to, raw: bytes.toString('latin1'), mail: await PostalMime.parse(bytes) })
        done()
      })
    },
  })
  server.on('error', () => {})
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  const { port } = server.server.address() as AddressInfo
  return {
    env: {
      LADE_SIGNUP: 'email',
      LADE_SMTP_URL: `smtp://127.0.0.1:${port}`,
      LADE_MAIL_FROM: 'Lade <lade@example.net>',
    },
    letters,
    to: (address) => letters.filter((letter) => letter.to.includes(address)),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
