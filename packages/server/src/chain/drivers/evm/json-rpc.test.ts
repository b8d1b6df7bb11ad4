import { inspect } from 'node:util'
import { LadeError } from '@lade/core/errors'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openJsonRpc, RpcRefusal } from './json-rpc.ts'
import { openRelay, type Relay } from './testing/relay.ts'

const SECRET = 'k3y-of-the-operator'

describe('openJsonRpc', () => {
  let relay: Relay
  beforeEach(async () => {
    relay = await openRelay()
  })
  afterEach(() => relay.close())

  const answering = (body: unknown, status = 200) => {
    relay.answerBy(() => ({ status, body: typeof body === 'string' ? body : JSON.stringify(body) }))
    return openJsonRpc({ url: relay.url, timeoutMs: 2_000 })
  }
  const failureOf = (asked: Promise<unknown>) =>
    asked.then(
      (answer) => Promise.reject(new Error(`answered ${answer}`)),
      (error: unknown) => error,
    )

  it('answers what the node answers, null included', async () => {
    await expect(answering({ jsonrpc: '2.0', id: 1, result: '0x1' }).request('eth_chainId', [])).resolves.toBe('0x1')
    await expect(answering({ jsonrpc: '2.0', id: 1, result: null }).request('eth_x', [1])).resolves.toBe(null)
    expect(relay.asked.map(({ method, params }) => [method, params])).toEqual([
      ['eth_chainId', []],
      ['eth_x', [1]],
    ])
  })

  it('error: a refusal keeps its code and words', async () => {
    const rpc = answering({ jsonrpc: '2.0', id: 1, error: { code: -32000, message: 'nonce too low' } })
    const failure = await failureOf(rpc.request('eth_sendRawTransaction', ['0x00']))
    expect(failure).toBeInstanceOf(RpcRefusal)
    expect(failure).toMatchObject({ code: -32000, message: 'nonce too low' })
  })

  it.each([-32005, -32603, 429])('error: a refusal of code %i is trouble of the node', async (code) => {
    const failure = await failureOf(answering({ error: { code, message: 'not now' } }).request('eth_call', []))
    expect(failure).toMatchObject({ code, isTrouble: true })
  })

  it('error: a refusal with status 400 is one, too', async () => {
    const rpc = answering({ error: { code: 3, message: 'execution reverted' } }, 400)
    await expect(failureOf(rpc.request('eth_call', []))).resolves.toBeInstanceOf(RpcRefusal)
  })

  it.each([
    ['a gateway that fails', 'Bad Gateway', 502],
    ['a limit', { error: { code: -32000, message: 'slow down' } }, 429],
    ['no JSON', '<html>welcome</html>', 200],
    ['JSON of another kind', { status: 'ok' }, 200],
    ['nothing', '', 200],
    ['more than a node has to say', `"${'x'.repeat(4 * 2 ** 20)}"`, 200],
  ])('error: %s is offline, asked once', async (_, body, status) => {
    const failure = await failureOf(answering(body, status).request('eth_blockNumber', []))
    expect(LadeError.has(failure, 'chain_offline') && failure.evidence).toEqual({ retryAfterSeconds: 5 })
    expect(failure).toHaveProperty('cause')
    expect(relay.asked).toHaveLength(1)
  })

  it('error: a redirect is not followed', async () => {
    const elsewhere = await openRelay()
    elsewhere.answerBy(() => ({ status: 200, body: JSON.stringify({ result: '0x1' }) }))
    const redirecting = await openRelay(elsewhere.url)
    redirecting.answerBy(() => ({ status: 307, body: '' }))
    const failure = await failureOf(openJsonRpc({ url: redirecting.url, timeoutMs: 2_000 }).request('eth_chainId', []))
    expect(LadeError.has(failure, 'chain_offline')).toBe(true)
    expect(elsewhere.asked).toEqual([])
    await Promise.all([elsewhere.close(), redirecting.close()])
  })

  it('error: no answer in time', async () => {
    relay.answerBy(() => new Promise(() => undefined))
    const failure = await failureOf(openJsonRpc({ url: relay.url, timeoutMs: 100 }).request('eth_chainId', []))
    expect(LadeError.has(failure, 'chain_offline') && failure.cause).toHaveProperty('name', 'TimeoutError')
  })

  it('sends a user and password, and repeats neither them nor a key in the path', async () => {
    const url = relay.url.replace('http://', `http://operator:${SECRET}@`)
    relay.answerBy(() => ({
      status: 200,
      body: JSON.stringify({ error: { code: 1, message: `no such user ${SECRET}` } }),
    }))
    const withPassword = openJsonRpc({ url, timeoutMs: 2_000 })
    const refusal = await failureOf(withPassword.request('eth_chainId', []))
    expect(relay.asked[0]?.authorization).toBe(`Basic ${btoa(`operator:${SECRET}`)}`)
    expect(refusal).toBeInstanceOf(RpcRefusal)
    relay.setOnline(false)
    const withKey = openJsonRpc({ url: `${relay.url}/v3/${SECRET}?key=${SECRET}`, timeoutMs: 2_000 })
    const failures = [
      refusal,
      await failureOf(withPassword.request('eth_chainId', [])),
      await failureOf(withKey.request('eth_chainId', [])),
    ]
    for (const failure of failures) expect(inspect(failure, { depth: 10, showHidden: true })).not.toContain(SECRET)
  })

  it('error: an address that is none', () => {
    for (const url of ['', 'localhost:8545', 'ws://127.0.0.1:8545', 'file:///etc/passwd']) {
      expect(() => openJsonRpc({ url, timeoutMs: 1 })).toThrow(TypeError)
    }
  })
})
