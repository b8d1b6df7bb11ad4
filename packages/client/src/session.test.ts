import { TestBrowser } from '@lade/server/testing/test-browser'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLadeClient } from './client.ts'
import { type OwnService, startOwnService } from './testing/own-service.ts'

const ADA = 'ada@example.org'
const BYTES = new TextEncoder().encode('by a page of the service')

let service: OwnService
beforeAll(async () => {
  service = await startOwnService()
})
afterAll(() => service.remove())

/** A page of the service, in a browser that does with cookies what browsers do. */
function openPage() {
  const browser = new TestBrowser(service)
  const fetch: typeof globalThis.fetch = async (input, { method = 'GET', headers, body } = {}) => {
    const { pathname, search } = new URL(String(input))
    const text = body == null ? {} : { body: await new Response(body).text() }
    return browser.fetch(pathname + search, { method, headers: Object.fromEntries(new Headers(headers)), ...text })
  }
  return createLadeClient({ url: service.url, session: true, fetch })
}

describe('a client on a page of the service', () => {
  it('signs in, works by the cookie, and signs out', async () => {
    const client = openPage()
    expect(await client.session.get()).toEqual({ session: null, signIn: ['email', 'token'] })
    await expect(client.usage()).rejects.toMatchObject({ code: 'no_token' })
    const session = await client.session.open({ email: ADA })
    expect(session).toMatchObject({ via: 'email', email: ADA, current: true })
    expect(await client.put(BYTES)).toMatchObject({ owner: ADA, sponsored: false })
    expect((await client.files.page()).count).toBe(1)
    expect((await client.session.list()).sessions.map(({ id }) => id)).toEqual([session.id])
    await client.session.close()
    await client.session.close()
    expect((await client.session.get()).session).toBeNull()
  })

  it('ends another of its sessions, and makes tokens', async () => {
    const [client, other] = [openPage(), openPage()]
    await client.session.open({ email: ADA })
    const { id } = await other.session.open({ email: ADA })
    expect(await client.session.end(id)).toMatchObject({ id })
    await expect(client.session.end(id)).rejects.toMatchObject({ code: 'not_found' })
    await expect(other.files.page()).rejects.toMatchObject({ code: 'invalid_session' })
    const { token } = await client.signup({ email: ADA, label: 'ci' })
    expect((await createLadeClient({ url: service.url, token }).files.page()).files).toBeDefined()
  })

  it('is of a session, a token or a wallet', () => {
    expect(() => createLadeClient({ session: true, token: 'pk_live_x' })).toThrow(TypeError)
  })
})

describe('a client elsewhere', () => {
  it('signs in to no session', async () => {
    const client = createLadeClient({ url: service.url })
    await expect(client.session.open({ email: ADA })).rejects.toMatchObject({ code: 'foreign_origin' })
  })
})
