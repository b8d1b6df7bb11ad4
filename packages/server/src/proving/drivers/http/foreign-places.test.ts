import { afterEach, describe, expect, test, vi } from 'vitest'
import { toPark } from '../../testing-pieces.ts'
import { ADDITION, failEverywhere, failureOf, NEVER, openProver, PIECE } from './testing-calls.ts'
import { makeTestCertificate } from './testing-certificate.ts'
import { answerOf, startPeer } from './testing-peer.ts'

describe('answers that lead elsewhere', () => {
  afterEach(() => vi.unstubAllEnvs())

  test.each([301, 302, 303, 307, 308])('are not followed: %i', async (status) => {
    const canary = await startPeer((socket) => void socket.end(answerOf(200, 'curio-pdp')))
    await failEverywhere((socket, head) => {
      const path = /^\S+ (\S+)/.exec(head)?.[1]
      socket.end(answerOf(status, '', [`location: ${canary.origin}${path}`]))
    })
    expect(canary.connections).toBe(0)
  })

  test('are not gone on at, however the place is written', async () => {
    const canary = await startPeer((socket) => void socket.end(answerOf(204)))
    const id = '6ba7b810-9dad-11d1-80b4-00c04fd430c8'
    const { port } = canary
    const places = [
      `http://127.0.0.1:${port}/pdp/piece/uploads/${id}`,
      `//127.0.0.1:${port}/pdp/piece/uploads/${id}`,
      `\\\\127.0.0.1:${port}\\pdp\\piece\\uploads\\${id}`,
      `http://user@127.0.0.1:${port}/pdp/piece/uploads/${id}`,
      `/pdp/piece/uploads/${id}@127.0.0.1:${port}/`,
      `/pdp/piece/uploads/../../../${id}`,
      `/pdp/piece/uploads/${id}/more`,
      `/pdp/piece/uploads/${id}%0d%0ahost:127.0.0.1:${port}`,
      `file:///pdp/piece/uploads/${id}`,
      `javascript:/pdp/piece/uploads/${id}`,
      `?/pdp/piece/uploads/${id}`,
      '',
      'http://[',
    ]
    for (const place of places) {
      const peer = await startPeer((socket, head) => {
        const isFind = head.startsWith('GET')
        socket.end(isFind ? answerOf(404) : answerOf(201, '', place === '' ? [] : [`location: ${place}`]))
      })
      const prover = openProver(peer.origin)
      const { reason } = await failureOf(prover.park(toPark(PIECE), NEVER))
      expect([place, reason]).toEqual([place, 'Its Location header is invalid.'])
      expect(peer.heads.filter((head) => head.startsWith('PUT'))).toEqual([])
      if (place !== '') await failureOf(prover.add(ADDITION))
    }
    const withUser = (origin: string) => origin.replace('//', '//user:word@')
    const peer = await startPeer((socket, head) => {
      const location = `location: ${withUser(peer.origin)}/pdp/piece/uploads/${id}`
      socket.end(head.startsWith('GET') ? answerOf(404) : answerOf(201, '', [location]))
    })
    expect((await failureOf(openProver(peer.origin).park(toPark(PIECE), NEVER))).reason).toContain(
      'Location header is invalid',
    )
    expect(canary.connections).toBe(0)
  })

  test('are not asked for by way of proxies of the environment', async () => {
    const canary = await startPeer((socket) => void socket.end(answerOf(200, 'curio-pdp')))
    for (const name of ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY']) vi.stubEnv(name, canary.origin)
    vi.stubEnv('NODE_USE_ENV_PROXY', '1')
    const peer = await startPeer((socket) => void socket.end(answerOf(200, 'curio-pdp')))
    await openProver(peer.origin).check()
    expect([peer.connections, canary.connections]).toEqual([1, 0])
  })
})

describe('TLS', () => {
  test('with a certificate that nobody vouches for is a failure, whatever the environment says', async () => {
    const peer = await startPeer((socket) => void socket.end(answerOf(200, 'curio-pdp')), makeTestCertificate())
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    const { reason, retryAfterSeconds } = await failureOf(
      openProver(peer.origin, { bearer: { reveal: () => 'word' } }).check(),
    )
    vi.unstubAllEnvs()
    expect([reason, retryAfterSeconds]).toEqual(['The prover did not respond: DEPTH_ZERO_SELF_SIGNED_CERT.', 30])
    expect(peer.heads).toEqual([])
  })

  test('is a failure where there is none', async () => {
    const { port } = await startPeer((socket) => void socket.end(answerOf(200)))
    const socketless = openProver(`https://127.0.0.1:${port}`)
    expect((await failureOf(socketless.check())).retryAfterSeconds).toBeGreaterThan(0)
  })
})
