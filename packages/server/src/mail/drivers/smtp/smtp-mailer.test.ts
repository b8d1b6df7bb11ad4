import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { LadeError } from '@lade/core/errors'
import type { SMTPServerOptions } from 'smtp-server'
import { afterEach, describe, expect, it } from 'vitest'
import { type MailServer, openMailServer } from '../../../testing/doubles/mail-server.ts'
import type { Mailer } from '../../mailer.ts'
import { openSmtpMailer, type SmtpMailerOptions } from './smtp-mailer.ts'

const FROM = { name: 'Lade', address: 'lade@mail.example' }
const MAIL = { to: 'ada@example.org', subject: 'A subject', text: 'Line one\n.\nLine three, with ünïcode\n' }
const WITH_LOGIN: SMTPServerOptions = { disabledCommands: ['STARTTLS'] }
const WITH_STARTTLS: SMTPServerOptions = { disabledCommands: ['AUTH'] }
/** Whoever connects to it reaches this machine, and yet it is none of the addresses that are known to be here. */
const ELSEWHERE = '0.0.0.0'

const opened: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close()
})

async function serve(options?: SMTPServerOptions): Promise<MailServer> {
  const server = await openMailServer(options)
  opened.push(server)
  return server
}

function mailerFor(port: number, changes: Partial<SmtpMailerOptions['server']> = {}, timeoutMs = 5000): Mailer {
  const mailer = openSmtpMailer({
    server: { host: '127.0.0.1', port, isTls: false, ...changes },
    from: FROM,
    timeoutMs,
  })
  opened.push(mailer)
  return mailer
}

const login = (password: string) => ({ credentials: { user: 'ada', password: { reveal: () => password } } })

/** The sentence under the `mail_failed` that sending ends with. */
async function failureOf(sending: Promise<unknown>): Promise<string> {
  const error: unknown = await sending.then(
    () => 'sent',
    (reason: unknown) => reason,
  )
  if (LadeError.has(error, 'mail_failed') && error.cause instanceof Error) {
    expect(error.evidence.retryAfterSeconds).toBeGreaterThan(0)
    return error.cause.message
  }
  throw new Error(`Not mail_failed: ${String(error)}`)
}

/** A server that does with its connections what it likes. */
async function listenRaw(onConnection: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    onConnection(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  opened.push({
    close: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  })
  return (server.address() as AddressInfo).port
}

describe('openSmtpMailer', () => {
  it('hands over a mail of plain text, from whom and to whom it should be', async () => {
    const server = await serve()
    expect(await mailerFor(server.port).send(MAIL)).toEqual({ outcome: 'taken' })
    const [received] = server.received
    expect(received).toMatchObject({ from: 'lade@mail.example', to: ['ada@example.org'], user: undefined })
    expect(received?.mail).toMatchObject({
      subject: 'A subject',
      from: { name: 'Lade', address: 'lade@mail.example' },
      to: [{ address: 'ada@example.org' }],
    })
    expect(received?.mail.text).toBe(MAIL.text)
    expect(received?.mail.html).toBeUndefined()
    const headers = Object.fromEntries(received?.mail.headers.map(({ key, value }) => [key, value]) ?? [])
    expect(headers['content-type']).toMatch(/^text\/plain/)
    expect(headers['auto-submitted']).toBe('auto-generated')
    expect(headers['message-id']).toMatch(/@mail\.example>$/)
  })

  it('logs in where it has credentials, also without TLS to this machine', async () => {
    const server = await serve(WITH_LOGIN)
    await mailerFor(server.port, login('right')).send(MAIL)
    expect(server.received).toMatchObject([{ user: 'ada', isEncrypted: false }])
  })

  it('takes localhost for 127.0.0.1', async () => {
    const server = await serve(WITH_LOGIN)
    await mailerFor(server.port, { host: 'localhost', ...login('right') }).send(MAIL)
    expect(server.received).toMatchObject([{ user: 'ada' }])
  })

  it('begins TLS where the server offers it, and minds no certificate of this machine itself', async () => {
    const server = await serve(WITH_STARTTLS)
    await mailerFor(server.port).send(MAIL)
    expect(server.received).toMatchObject([{ isEncrypted: true }])
  })

  it('speaks TLS from the start where it is to', async () => {
    const server = await serve({ secure: true, disabledCommands: [] })
    await mailerFor(server.port, { isTls: true, ...login('right') }).send(MAIL)
    expect(server.received).toMatchObject([{ isEncrypted: true, user: 'ada' }])
  })

  it('error: gives a password to no other machine without TLS', async () => {
    const server = await serve(WITH_LOGIN)
    const cause = await failureOf(mailerFor(server.port, { host: ELSEWHERE, ...login('right') }).send(MAIL))
    expect(cause).toContain('ETLS')
    expect(server.offeredPasswords).toEqual([])
    expect(server.received).toEqual([])
  })

  it.each([
    ['by STARTTLS', { disabledCommands: [] }, false],
    ['from the start', { secure: true, disabledCommands: [] }, true],
  ])(
    'error: gives neither a password nor a mail to another machine of a wrong certificate, TLS %s',
    async (_, options, isTls) => {
      const server = await serve(options)
      const mailer = mailerFor(server.port, { host: ELSEWHERE, isTls, ...login('right') })
      expect(await failureOf(mailer.send(MAIL))).toMatch(/certificate|self.signed/i)
      expect(server.offeredPasswords).toEqual([])
      expect(server.received).toEqual([])
    },
  )

  it('sends without a password to another machine that has no TLS', async () => {
    const server = await serve()
    await mailerFor(server.port, { host: ELSEWHERE }).send(MAIL)
    expect(server.received).toHaveLength(1)
  })

  it('error: wrong credentials are mail_failed, and the password is in no message', async () => {
    const server = await serve(WITH_LOGIN)
    const cause = await failureOf(mailerFor(server.port, login('hunter2')).send(MAIL))
    expect(cause).toContain('EAUTH')
    expect(cause).not.toMatch(/hunter2|aHVudGVyMg/)
  })

  it.each<[string, SMTPServerOptions]>([
    ['the recipient', { onRcptTo: ({ address }, _session, done) => done(new Error(`no ${address} here`)) }],
    ['the sender', { onMailFrom: (_address, _session, done) => done(new Error('not you')) }],
    [
      'the text',
      {
        onData: (stream, _session, done) => {
          stream.resume()
          stream.on('end', () => done(new Error('spam')))
        },
      },
    ],
  ])('says when the server refuses %s, without the address', async (_, options) => {
    const server = await serve(options)
    const sent = await mailerFor(server.port).send(MAIL)
    expect(sent).toMatchObject({ outcome: 'refused', reason: expect.stringMatching(/^\w+, .*\b(here|you|spam)\b/) })
    expect(JSON.stringify(sent)).not.toContain(MAIL.to)
  })

  it('error: nobody there is mail_failed', async () => {
    const server = await openMailServer()
    await server.close()
    expect(await failureOf(mailerFor(server.port).send(MAIL))).toContain('ECONNREFUSED')
  })

  it.each<[string, (socket: Socket) => void]>([
    ['says nothing', () => {}],
    ['greets and falls silent', (socket) => socket.write('220 hello\r\n')],
    [
      'says a byte now and then',
      (socket) => {
        socket.write('220-')
        const drip = setInterval(() => socket.write('x'), 50)
        socket.on('close', () => clearInterval(drip))
      },
    ],
    [
      'never ends its answer',
      (socket) => {
        socket.write('220 hello\r\n')
        socket.once('data', () => {
          const drip = setInterval(() => socket.write('250-x\r\n'), 50)
          socket.on('close', () => clearInterval(drip))
        })
      },
    ],
  ])('error: a server that %s is mail_failed in bounded time', async (_, onConnection) => {
    const port = await listenRaw(onConnection)
    const startedMs = performance.now()
    await failureOf(mailerFor(port, {}, 300).send(MAIL))
    expect(performance.now() - startedMs).toBeLessThan(5000)
  })

  it('error: a server that hangs up is mail_failed', async () => {
    const port = await listenRaw((socket) => socket.end())
    await failureOf(mailerFor(port).send(MAIL))
  })

  it('error: what is under way when it is closed is mail_failed, and so is what comes after', async () => {
    const connected = Promise.withResolvers<void>()
    const port = await listenRaw(() => connected.resolve())
    const mailer = mailerFor(port, {}, 60_000)
    const sending = failureOf(mailer.send(MAIL))
    await connected.promise
    mailer.close()
    mailer.close()
    await sending
    await failureOf(mailer.send(MAIL))
  })

  it('error: more mails at once than a server should meet are mail_failed at once', async () => {
    const port = await listenRaw(() => {})
    const mailer = mailerFor(port, {}, 60_000)
    const sendings = Array.from({ length: 32 }, () => failureOf(mailer.send(MAIL)))
    expect(await failureOf(mailer.send(MAIL))).toContain('32 mails')
    mailer.close()
    await Promise.all(sendings)
  })

  it('lets no text become a header or end the mail', async () => {
    const server = await serve()
    const text = '.\r\nQUIT\r\nBcc: eve@example.org\n\n.\n'
    await mailerFor(server.port).send({ ...MAIL, subject: 'One\r\nBcc: eve@example.org', text })
    expect(server.received).toHaveLength(1)
    expect(server.received[0]?.to).toEqual(['ada@example.org'])
    expect(server.received[0]?.mail.bcc).toBeUndefined()
    expect(server.received[0]?.mail.text).toContain('Bcc: eve@example.org')
  })
})
