import { type MailServer, openMailServer, otherThan } from '@lade/server/testing/mail-server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLadeClient, LadeError } from './client.ts'
import type { LadeClient } from './options.ts'
import { type OwnService, startOwnService } from './testing/own-service.ts'

const ADA = 'ada@example.org'

let inbox: MailServer
let service: OwnService
let client: LadeClient
beforeAll(async () => {
  inbox = await openMailServer()
  service = await startOwnService({ ...inbox.settings, LADE_TOKEN_ALG: 'RS256' })
  client = createLadeClient({ url: service.url })
})
afterAll(async () => {
  await service.remove()
  await inbox.close()
})

const codeFor = (address: string) => inbox.codeFor(address)
const clientWith = (token: string) => createLadeClient({ url: service.url, token })
async function begin(email: string): Promise<{ challenge: string; code: string }> {
  const { challenge } = await client.signIn.start({ email, label: 'laptop' })
  return { challenge, code: codeFor(email) }
}

describe('signIn', () => {
  it('has a code mailed, and gives a token for it that the service takes', async () => {
    expect(await client.info()).toMatchObject({ signup: 'email', tokenAlg: 'RS256' })
    const started = await client.signIn.start({ email: ADA, label: 'laptop' })
    expect(started).toEqual({ sent: true, email: ADA, expiresIn: 900, challenge: expect.any(String) })
    const { challenge } = started
    const { token, email } = await client.signIn.verify({ challenge, code: codeFor(ADA) })
    expect(email).toBe(ADA)
    expect(await clientWith(token).tokens.list()).toMatchObject({ tokens: [{ label: 'laptop', current: true }] })
  })

  it('narrows the token as asked', async () => {
    const { challenge, code } = await begin('grace@example.org')
    const asked = { scopes: ['put' as const], quotaMb: 5, ttlDays: 1 }
    expect(await client.signIn.verify({ challenge, code, ...asked })).toMatchObject({ scopes: ['put'], quotaMb: 5 })
  })

  it('says how many attempts are left, and takes a challenge once', async () => {
    const { challenge, code } = await begin('bob@example.org')
    const wrong = await client.signIn.verify({ challenge, code: otherThan(code) }).catch((error: unknown) => error)
    expect(LadeError.has(wrong, 'invalid_code') && wrong.evidence.attemptsLeft).toBe(4)
    await client.signIn.verify({ challenge, code: `${code.slice(0, 3)} ${code.slice(3)}` })
    await expect(client.signIn.verify({ challenge, code })).rejects.toMatchObject({ code: 'invalid_challenge' })
  })
})

describe('signup where the service mails codes', () => {
  it('needs a token of the same address', async () => {
    const request = { email: 'eve@example.org', label: 'phone' }
    await expect(client.signup(request)).rejects.toMatchObject({ code: 'email_code_required' })
    const { token } = await client.signIn.verify(await begin('eve@example.org'))
    expect(await clientWith(token).signup(request)).toMatchObject({ email: 'eve@example.org' })
  })
})
