import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import type { IncomingMessage, RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { verifyRequest } from '@slicekit/erc8128'
import { verifyMessage } from 'viem'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { run } from '../run.ts'
import { keystoreOf } from '../testing-keystore.ts'
import { startFakeService } from '../testing-service.ts'
import { type TestTerminalOptions, testTerminal } from '../testing-terminal.ts'

/** The first account that Anvil hands out. Everybody has its key. */
const KEY = 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const ADDRESS = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const PASSWORD = ' correct horse'
const CHAIN_ID = 8453

let dir = ''
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'lade-cli-wallet-'))
  await writeFile(join(dir, 'key'), `0x${KEY}\n`, { mode: 0o600 })
  await writeFile(join(dir, 'keystore.json'), keystoreOf(KEY, PASSWORD, ADDRESS), { mode: 0o600 })
})
afterEach(() => rm(dir, { recursive: true, force: true }))

async function lade(args: readonly string[], options: TestTerminalOptions = {}) {
  const { terminal, stdout, stderr } = testTerminal({ homeDir: dir, cwd: dir, ...options })
  const exitCode = await run(args, terminal)
  return { exitCode, stdout: stdout(), stderr: stderr() }
}

describe('lade wallet new', () => {
  it('keeps a key where only its owner can read it, and prints the address alone', async () => {
    const made = await lade(['wallet', 'new', 'mine'])
    expect(made).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^0x[0-9a-fA-F]{40}\n$/) })
    const text = await readFile(join(dir, 'mine'), 'utf8')
    expect(text).toMatch(/^0x[0-9a-f]{64}\n$/)
    expect(made.stdout + made.stderr).not.toContain(text.slice(2, 20))
    expect((await stat(join(dir, 'mine'))).mode & 0o777).toBe(0o600)
    expect(await lade(['wallet', 'address', 'mine'])).toEqual({ exitCode: 0, stdout: made.stdout, stderr: '' })
    expect((await lade(['wallet', 'new', 'other'])).stdout).not.toBe(made.stdout)
  })

  it('never replaces a file', async () => {
    expect(await lade(['wallet', 'new', 'key'])).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: 'key already exists and may contain a wallet. Choose another name.\n',
    })
    expect(await readFile(join(dir, 'key'), 'utf8')).toContain(KEY)
    expect((await lade(['wallet', 'new', 'no/such/folder'])).exitCode).toBe(1)
    expect((await readdir(dir)).sort()).toEqual(['key', 'keystore.json'])
  })
})

describe('lade wallet address', () => {
  it('reads a key with and without 0x', async () => {
    await writeFile(join(dir, 'bare'), KEY.toUpperCase(), { mode: 0o600 })
    for (const file of ['key', 'bare']) expect((await lade(['wallet', 'address', file])).stdout).toBe(`${ADDRESS}\n`)
    expect(JSON.parse((await lade(['wallet', 'address', 'key', '--json'])).stdout)).toEqual({ address: ADDRESS })
  })

  it('opens a keystore by a password that is typed, and shows nothing of it', async () => {
    const typed = await lade(['wallet', 'address', 'keystore.json'], { columns: 80, input: `${PASSWORD}\r` })
    expect(typed).toEqual({
      exitCode: 0,
      stdout: `${ADDRESS}\n`,
      stderr: 'Password of keystore.json (not shown): \n',
    })
  })

  it('opens a keystore by a password in a file that only its owner can read', async () => {
    await writeFile(join(dir, 'password'), `${PASSWORD}\n`, { mode: 0o600 })
    const env = { LADE_WALLET_PASSWORD_FILE: 'password' }
    expect(await lade(['wallet', 'address', 'keystore.json'], { env })).toMatchObject({ stdout: `${ADDRESS}\n` })
    await chmod(join(dir, 'password'), 0o640)
    expect(await lade(['wallet', 'address', 'keystore.json'], { env })).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: expect.stringContaining('password is readable by other users of this machine (mode 640)'),
    })
  })

  it('does not use a bare key that others can read, and does use a keystore', async () => {
    for (const file of ['key', 'keystore.json']) await chmod(join(dir, file), 0o644)
    expect(await lade(['wallet', 'address', 'key'])).toEqual({
      exitCode: 2,
      stdout: '',
      stderr:
        'key is readable by other users of this machine (mode 644), so Lade does not use it. Run chmod 600 on it. If others may have read it, move its funds to a new wallet.\n',
    })
    const typed = await lade(['wallet', 'address', 'keystore.json'], { columns: 80, input: `${PASSWORD}\r` })
    expect(typed.exitCode).toBe(0)
  })

  it.each([
    ['nothing', '', 'file is not a wallet'],
    ['a token', 'pk_live_a.b.c', 'file is not a wallet'],
    ['two keys', `${KEY}\n${KEY}\n`, 'file is not a wallet'],
    ['zero', '0'.repeat(64), 'The number in file is not a valid private key.'],
    ['what lies beyond the curve', 'f'.repeat(64), 'The number in file is not a valid private key.'],
    ['another JSON', '{"version":1}', 'file is not a supported keystore'],
    ['a whole disk', 'a'.repeat(70_000), 'is too large for a secret.'],
    ['a keystore without a password', keystoreOf(KEY, PASSWORD, ADDRESS), 'Set LADE_WALLET_PASSWORD_FILE'],
  ])('error: %s is refused by one sentence that repeats nothing of it', async (_, text, sentence) => {
    await writeFile(join(dir, 'file'), text, { mode: 0o600 })
    const { exitCode, stdout, stderr } = await lade(['wallet', 'address', 'file'])
    expect({ exitCode: exitCode > 0, stdout }).toEqual({ exitCode: true, stdout: '' })
    expect(stderr).toContain(sentence)
    expect(stderr.trim().split('\n')).toHaveLength(1)
    if (text !== '') expect(stderr).not.toContain(text.slice(0, 20))
  })

  it('error: another password does not open it, nor does another account pass for it', async () => {
    const options = { columns: 80, input: 'battery staple\r' }
    expect(await lade(['wallet', 'address', 'keystore.json'], options)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('The password for keystore.json is wrong.\n'),
    })
    const other = `0x${'1'.repeat(40)}`
    await writeFile(join(dir, 'other.json'), keystoreOf(KEY, 'x', other), { mode: 0o600 })
    expect(await lade(['wallet', 'address', 'other.json'], { columns: 80, input: 'x\r' })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(`claims the address ${other} but contains the key of ${ADDRESS}.`),
    })
  })

  it('error: a file that is not there', async () => {
    expect(await lade(['wallet', 'address', 'nowhere'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/Cannot read \S+nowhere \(the command line\): there is no such file or folder\./),
    })
  })
})

describe('--wallet', () => {
  interface Seen {
    readonly asked: string[]
    readonly close: () => Promise<void>
    readonly url: string
  }

  /** A service that answers like one without files, and checks every signature by another implementation. */
  async function startService(wallets: unknown, answer?: (request: IncomingMessage) => [number, object] | undefined) {
    const asked: string[] = []
    const nonces = new Set<string>()
    const listener: RequestListener = async (request, response) => {
      const say = (status: number, body: object) => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      }
      request.resume()
      if (request.url === '/api/info') return say(200, { wallets, version: '0.1.0' })
      const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)])
      const result = await verifyRequest({
        request: new Request(`http://${request.headers.host}${request.url}`, { method: request.method ?? '', headers }),
        verifyMessage: ({ address, message, signature }) => verifyMessage({ address, message, signature }),
        nonceStore: { consume: async (key) => !nonces.has(key) && Boolean(nonces.add(key)) },
        policy: { maxValiditySec: 60 },
      })
      asked.push(
        result.ok ? `${request.url} by ${result.address} of ${result.chainId}` : `${request.url} ${result.reason}`,
      )
      say(...(answer?.(request) ?? [200, { files: [], count: 0, nextCursor: null }]))
    }
    const { url, close } = await startFakeService(listener)
    return { asked, url, close } satisfies Seen
  }
  const enabled = { chainId: CHAIN_ID, usdc: `0x${'2'.repeat(40)}`, usdcPerGib: '0.5' }
  let service: Seen | undefined
  afterEach(async () => {
    await service?.close()
    service = undefined
  })

  it('signs what is asked, for the chain that the service names or the one that is named', async () => {
    service = await startService(enabled)
    const { url, asked } = service
    const by = `by ${ADDRESS.toLowerCase()} of`
    expect((await lade(['ls', '--url', url, '--wallet', 'key'])).exitCode).toBe(0)
    expect((await lade(['ls', '--url', url], { env: { LADE_WALLET: 'key' } })).exitCode).toBe(0)
    const env = { LADE_TOKEN: 'pk_live_a.b.c', LADE_URL: url }
    expect((await lade(['ls', '--wallet', 'key', '--chain-id', '10'], { env })).exitCode).toBe(0)
    expect(asked.map((line) => line.replace(/^\S+ /, ''))).toEqual([`${by} 8453`, `${by} 8453`, `${by} 10`])
  })

  it('stands aside for a token in a file, and for an upload that is to be sponsored', async () => {
    service = await startService(enabled)
    const { url, asked } = service
    await writeFile(join(dir, 'token'), 'pk_live_a.b.c')
    const env = { LADE_URL: url, LADE_WALLET: 'key' }
    await lade(['ls', '--token-file', 'token'], { env })
    await lade(['put', 'keystore.json', '--sponsored'], { env })
    expect(asked[0]).toMatch(/^\/api\/files\S* missing_headers$/)
    expect(asked.at(-1)).toMatch(/^\/api\/upload\S* missing_headers$/)
  })

  it.each<[string, readonly string[], Record<string, string>]>([
    ['Use --wallet or --token-file, not both.', ['--wallet', 'key', '--token-file', 'key'], {}],
    ['LADE_WALLET and LADE_TOKEN are both set.', [], { LADE_WALLET: 'key', LADE_TOKEN: 'pk_live_a.b.c' }],
    ['--chain-id needs a wallet.', ['--chain-id', '1'], {}],
    ['Expected a whole number', ['--wallet', 'key', '--chain-id', '0x1'], {}],
  ])('error: %s', async (sentence, args, env) => {
    expect(await lade(['usage', ...args], { env })).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: expect.stringContaining(sentence),
    })
  })

  it('says so, without asking for a password, where wallets are not enabled', async () => {
    service = await startService(null)
    const { url, asked } = service
    const options = { columns: 80, input: `${PASSWORD}\r` }
    expect(await lade(['ls', '--url', url, '--wallet', 'keystore.json'], options)).toEqual({
      exitCode: 7,
      stdout: '',
      stderr: `Wallets are not enabled at ${url}. Leave out --wallet, or choose another service. (The operator enables wallets with LADE_CHAIN_RPC.)\n`,
    })
    expect(asked).toEqual([])
  })

  it.each<[string, number, object, number, string]>([
    [
      'an empty wallet',
      429,
      { error: 'quota_exceeded', detail: 'The wallet holds no USDC.', used: 0, limit: 0 },
      5,
      'The wallet holds no USDC.',
    ],
    [
      'one that is used up',
      429,
      {
        error: 'quota_exceeded',
        detail: '1 MB of 2 MB used.',
        used: 1_048_576,
        limit: 2_097_152,
        retryAfterSeconds: 60,
      },
      5,
      '1 MB of 2 MB used.',
    ],
    [
      'a signature that does not hold',
      401,
      { error: 'invalid_signature', detail: 'The signature has expired.', reason: 'The signature has expired.' },
      7,
      'The signature has expired. Check --wallet, --chain-id and the clock',
    ],
    [
      'a chain that is silent',
      503,
      { error: 'chain_offline', detail: 'Try again in 5 seconds.', retryAfterSeconds: 5 },
      6,
      'Try again in 5 seconds.',
    ],
  ])('says what to do about %s', async (_, status, body, exitCode, sentence) => {
    service = await startService(enabled, () => [status, body])
    const { url } = service
    expect(await lade(['usage', '--url', url, '--wallet', 'key'])).toMatchObject({
      exitCode,
      stderr: expect.stringContaining(sentence),
    })
  })

  it('is looked at by lade doctor, which says as well whether wallets are enabled', async () => {
    const answer = ({ url }: IncomingMessage): [number, object] => {
      if (url === '/healthz') return [200, { status: 'ok' }]
      if (url === '/readyz') return [200, { status: 'ready', dependencies: {} }]
      return [200, { userId: `eip155:${CHAIN_ID}:${ADDRESS}`, quotaBytes: 2 ** 30, today: { remainingBytes: 2 ** 29 } }]
    }
    service = await startService(enabled, answer)
    const { stdout } = await lade(['doctor', '--url', service.url, '--wallet', 'key'])
    expect(stdout).toContain(`Wallets on chain ${CHAIN_ID} are enabled. 0.5 USDC give 1 GiB per day.`)
    expect(stdout).toContain(
      `The wallet in key is accepted as eip155:${CHAIN_ID}:${ADDRESS} and can upload 512 MiB more today.`,
    )
    await service.close()
    service = await startService(null, answer)
    const off = await lade(['doctor', '--url', service.url, '--wallet', 'key'])
    expect(off.stdout).toContain('Wallets are not enabled.')
    expect(off.stdout).toContain('BROKEN   --wallet names a wallet, but the service does not accept wallets.')
  })

  it('is a flag of no command that is about tokens', async () => {
    for (const args of [['login'], ['logout'], ['token', 'ls'], ['token', 'new', '--email', 'a@b.co']]) {
      expect((await lade([...args, '--wallet', 'key'])).stderr).toContain("unknown option '--wallet'")
    }
  })
})
