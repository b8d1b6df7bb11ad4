import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { ConfigError } from '@lade/node/settings'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Config, configurationTables, flagOf, readConfig, SETTINGS, type Setting } from './config.ts'

const MB = 1_048_576
const read = (env: Record<string, string>, flags: Record<string, string> = {}) =>
  readConfig({ env, flags, cwd: '/srv' })

/** The sentence with which the configuration is refused. */
function refusal(env: Record<string, string>, flags: Record<string, string> = {}): string {
  try {
    read(env, flags)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  throw new Error('The configuration was accepted.')
}

describe('readConfig', () => {
  it('has the documented value for everything when nothing is set', () => {
    expect(read({})).toEqual({
      host: '127.0.0.1',
      port: 8080,
      dataDir: '/srv/data',
      database: { kind: 'sqlite', file: '/srv/data/lade.db' },
      storage: { kind: 'file', dir: '/srv/data/objects' },
      retrieval: { redirectSeconds: 0, cacheSeconds: 3600 },
      provers: [{ kind: 'local' }],
      placement: {
        copies: 1,
        stage: 'sync',
        aggregateBelowBytes: MB,
        aggregateSeconds: 60,
        auditSeconds: 86_400,
        ipfsCopies: 0,
      },
      tokenAlg: 'HS256',
      signup: 'open',
      queryToken: 'accept',
      opaqueIds: 'accept',
      inlineBytes: 65_536,
      sponsored: {
        fileBytes: 100 * MB,
        dailyBytes: 200 * MB,
        dailyFiles: 2000,
        storedBytes: undefined,
        concurrency: 8,
        termDays: 7,
      },
      token: {
        fileBytes: 5120 * MB,
        quotaMb: 1024,
        dailyFiles: 100_000,
        storedBytes: undefined,
        concurrency: 32,
        termDays: 30,
      },
      termMaxDays: 365,
      denylists: [],
      trustedProxies: [],
      trustedHosts: [],
      minFreeBytes: 1024 * MB,
      graceMs: 86_400_000,
      scrubDays: 30,
      reverifyMs: 3_600_000,
      orphanDays: 30,
      tombstoneMs: 7_776_000_000,
      processes: 1,
      maxConnections: 4096,
      logLevel: 'info',
      logAddresses: 'full',
      bodyIdleMs: 30_000,
      drainMs: 30_000,
      signupsPerHour: 10,
      oldNames: [],
    } satisfies Config)
  })

  it.each<[string, string, (config: Config) => unknown, unknown]>([
    ['LADE_HOST', '[::1]', (config) => config.host, '::1'],
    ['LADE_HOST', 'lade.internal', (config) => config.host, 'lade.internal'],
    ['LADE_PORT', '0', (config) => config.port, 0],
    ['LADE_PUBLIC_URL', 'https://lade.example/', (config) => config.publicUrl, 'https://lade.example'],
    ['LADE_PUBLIC_URL', 'https://lade.example/a/', (config) => config.publicUrl, 'https://lade.example/a'],
    ['LADE_CONTENT_URL', 'https://files.example', (config) => config.contentUrl, 'https://files.example'],
    ['LADE_SITES_URL', 'https://*.ipfs.Lade.example/', (config) => config.sitesUrl, 'https://*.ipfs.lade.example'],
    ['LADE_SITES_URL', 'http://*.ipfs.localhost:8080', (config) => config.sitesUrl, 'http://*.ipfs.localhost:8080'],
    ['LADE_DATA_DIR', 'elsewhere', (config) => config.database, { kind: 'sqlite', file: '/srv/elsewhere/lade.db' }],
    ['LADE_DATA_DIR', '/var/lib/lade', (config) => config.dataDir, '/var/lib/lade'],
    ['LADE_DATABASE', 'sqlite:here.db', (config) => config.database, { kind: 'sqlite', file: '/srv/here.db' }],
    ['LADE_DATABASE', 'sqlite:///var/lade.db', (config) => config.database, { kind: 'sqlite', file: '/var/lade.db' }],
    ['LADE_STORAGE', 'file:/mnt/objects', (config) => config.storage, { kind: 'file', dir: '/mnt/objects' }],
    ['LADE_STORAGE', 'none', (config) => config.storage, { kind: 'none' }],
    ['LADE_S3_REDIRECT_SECONDS', '0', (config) => config.retrieval.redirectSeconds, 0],
    ['LADE_CACHE_SECONDS', '29030400', (config) => config.retrieval.cacheSeconds, 29_030_400],
    ['LADE_STAGE', 'async', (config) => config.placement.stage, 'async'],
    ['LADE_AGGREGATE_BELOW_MB', '0', (config) => config.placement.aggregateBelowBytes, 0],
    ['LADE_AGGREGATE_SECONDS', '5', (config) => config.placement.aggregateSeconds, 5],
    ['LADE_AUDIT_SECONDS', '60', (config) => config.placement.auditSeconds, 60],
    [
      'LADE_PROVER',
      'local,https://prover.example',
      (config) => config.provers,
      [{ kind: 'local' }, { kind: 'reference', origin: 'https://prover.example' }],
    ],
    ['LADE_TOKEN_KEY', 'k'.repeat(40), (config) => config.tokenKey?.reveal(), 'k'.repeat(40)],
    ['LADE_TOKEN_ALG', 'HS256', (config) => config.tokenAlg, 'HS256'],
    ['LADE_TOKEN_ALG', 'RS256', (config) => config.tokenAlg, 'RS256'],
    ['LADE_SIGNUP', 'closed', (config) => config.signup, 'closed'],
    ['LADE_QUERY_TOKEN', 'refuse', (config) => config.queryToken, 'refuse'],
    ['LADE_OPAQUE_IDS', 'refuse', (config) => config.opaqueIds, 'refuse'],
    ['LADE_INLINE_KB', '0', (config) => config.inlineBytes, 0],
    ['LADE_INLINE_KB', '1024', (config) => config.inlineBytes, MB],
    ['LADE_SPONSORED_FILE_MB', '1', (config) => config.sponsored.fileBytes, MB],
    ['LADE_SPONSORED_DAILY_MB', '0', (config) => config.sponsored.dailyBytes, 0],
    ['LADE_SPONSORED_DAILY_FILES', '3', (config) => config.sponsored.dailyFiles, 3],
    ['LADE_SPONSORED_CONCURRENCY', '2', (config) => config.sponsored.concurrency, 2],
    ['LADE_SPONSORED_FILE_DAYS', '1', (config) => config.sponsored.termDays, 1],
    ['LADE_TOKEN_FILE_MB', '2', (config) => config.token.fileBytes, 2 * MB],
    ['LADE_TOKEN_DAILY_MB', '3', (config) => config.token.quotaMb, 3],
    ['LADE_TOKEN_DAILY_FILES', '3', (config) => config.token.dailyFiles, 3],
    ['LADE_TOKEN_CONCURRENCY', '4', (config) => config.token.concurrency, 4],
    ['LADE_TOKEN_FILE_DAYS', '5', (config) => config.token.termDays, 5],
    ['LADE_TERM_MAX_DAYS', '400', (config) => config.termMaxDays, 400],
    ['LADE_TRUSTED_PROXIES', '10.0.0.0/8, ::1', (config) => config.trustedProxies, ['10.0.0.0/8', '::1']],
    [
      'LADE_TRUSTED_HOSTS',
      'Lade.Example, 192.0.2.7,fd00::1',
      (config) => config.trustedHosts,
      ['lade.example', '192.0.2.7', '[fd00::1]'],
    ],
    ['LADE_MIN_FREE_MB', '0', (config) => config.minFreeBytes, 0],
    ['LADE_PROCESSES', '64', (config) => config.processes, 64],
    ['LADE_LOG_LEVEL', 'silent', (config) => config.logLevel, 'silent'],
    ['LADE_BODY_IDLE_SECONDS', '2', (config) => config.bodyIdleMs, 2000],
    ['LADE_DRAIN_SECONDS', '0', (config) => config.drainMs, 0],
    ['LADE_SIGNUPS_PER_HOUR', '99', (config) => config.signupsPerHour, 99],
  ])('reads %s=%s, as a variable and as a flag', (name, text, pick, expected) => {
    expect(pick(read({ [name]: text }))).toEqual(expected)
    expect(pick(read({}, { [flagOf(name).slice(2)]: text }))).toEqual(expected)
  })

  it('lets the flag win over its variable', () => {
    expect(read({ LADE_PORT: '1' }, { port: '2' }).port).toBe(2)
  })

  it('is frozen in every part', () => {
    const config = read({ LADE_TRUSTED_PROXIES: '::1' })
    for (const part of [config, config.sponsored, config.token, config.storage, config.trustedProxies]) {
      expect(Object.isFrozen(part)).toBe(true)
    }
  })

  it.each([
    ['LADE_HOST', '1.2.3'],
    ['LADE_HOST', 'http://here'],
    ['LADE_HOST', '-a.example'],
    ['LADE_PORT', '65536'],
    ['LADE_PORT', '-1'],
    ['LADE_PORT', '8080.0'],
    ['LADE_PORT', '0x50'],
    ['LADE_PORT', '080'],
    ['LADE_PORT', ' 80'],
    ['LADE_PORT', '1e3'],
    ['LADE_PUBLIC_URL', 'lade.example'],
    ['LADE_PUBLIC_URL', 'ftp://lade.example'],
    ['LADE_PUBLIC_URL', 'https://lade.example/#top'],
    ['LADE_CONTENT_URL', 'https://'],
    ['LADE_SITES_URL', 'https://ipfs.lade.example'],
    ['LADE_SITES_URL', 'https://*.lade.example'],
    ['LADE_SITES_URL', 'https://*.ipns.lade.example'],
    ['LADE_SITES_URL', 'https://*.ipfs.lade.example/p'],
    ['LADE_SITES_URL', 'https://*.ipfs.127.0.0.1'],
    ['LADE_SITES_URL', 'https://*.ipfs.lade.example:99999'],
    ['LADE_DATA_DIR', 'a\0b'],
    ['LADE_DATABASE', 'lade.db'],
    ['LADE_DATABASE', 'sqlite:'],
    ['LADE_DATABASE', 'sqlite::memory:'],
    ['LADE_STORAGE', 'objects'],
    ['LADE_STORAGE', 'file:'],
    ['LADE_STORAGE', 'file://host/objects'],
    ['LADE_STORAGE', 'None'],
    ['LADE_S3_REDIRECT_SECONDS', '86401'],
    ['LADE_S3_REDIRECT_SECONDS', '5m'],
    ['LADE_ACCEL', 'on'],
    ['LADE_ACCEL', '/'],
    ['LADE_ACCEL', '/lade-blobs'],
    ['LADE_ACCEL', 'lade-blobs/'],
    ['LADE_ACCEL', '/lade/../blobs/'],
    ['LADE_ACCEL', '/lade//blobs/'],
    ['LADE_ACCEL', '/lade blobs/'],
    ['LADE_ACCEL', '@lade'],
    ['LADE_PROVER', 'remote'],
    ['LADE_PROVER', 'local,local'],
    ['LADE_PROVER', 'http://prover.example'],
    ['LADE_PROVER', 'https://a.example,https://a.example'],
    ['LADE_SIGNUP', 'OPEN'],
    ['LADE_QUERY_TOKEN', 'true'],
    ['LADE_OPAQUE_IDS', 'no'],
    ['LADE_TOKEN_ALG', 'none'],
    ['LADE_INLINE_KB', '1025'],
    ['LADE_SPONSORED_FILE_MB', '0'],
    ['LADE_TOKEN_DAILY_MB', '1000000001'],
    ['LADE_TOKEN_DAILY_FILES', '0'],
    ['LADE_PROCESSES', '0'],
    ['LADE_PROCESSES', '65'],
    ['LADE_LOG_LEVEL', 'verbose'],
    ['LADE_BODY_IDLE_SECONDS', '0'],
    ['LADE_TRUSTED_HOSTS', 'lade.example:8080'],
    ['LADE_TRUSTED_HOSTS', 'https://lade.example'],
    ['LADE_TRUSTED_HOSTS', 'lade.example,'],
    ['LADE_TRUSTED_PROXIES', 'loopback'],
    ['LADE_TRUSTED_PROXIES', '10.0.0.0/33'],
    ['LADE_TRUSTED_PROXIES', '::1/129'],
    ['LADE_TRUSTED_PROXIES', '0.0.0.0/0'],
    ['LADE_TRUSTED_PROXIES', '10.0.0.1,'],
    ['LADE_TRUSTED_PROXIES', '10.0.0.1/8/8'],
    ['LADE_TRUSTED_PROXIES', 'fe80::1%eth0'],
  ])(
    'refuses %s=%s by one sentence that names the variable or the flag, the value and what is accepted',
    (name, text) => {
      const setting = Object.values<Setting>(SETTINGS).find((candidate) => candidate.name === name)
      const rest = ` is ${JSON.stringify(text)}, but it must be ${setting?.form.accepts}.`
      expect(refusal({ [name]: text })).toBe(name + rest)
      expect(refusal({}, { [flagOf(name).slice(2)]: text })).toBe(flagOf(name) + rest)
    },
  )

  it('refuses an empty value of every setting', () => {
    for (const { name } of Object.values<Setting>(SETTINGS)) {
      expect(refusal({ [name]: '' })).toContain(`${name} is set but empty.`)
    }
  })

  it.each([
    ['LADE_TOKEN_ALG', 'ES256', 'that algorithm'],
    ['LADE_TOKEN_ALG', 'RS512', 'that algorithm'],
  ])('refuses %s=%s, saying that this build does not support %s', (name, text, unsupported) => {
    expect(refusal({ [name]: text })).toContain(`but this build does not support ${unsupported}. Use HS256 or RS256.`)
    expect(refusal({ [name]: text })).toMatch(new RegExp(`^${name} is `))
  })

  it('lets a proxy send files that are files, and only a proxy that it trusts', () => {
    const env = { LADE_ACCEL: '/lade-blobs/', LADE_TRUSTED_PROXIES: '127.0.0.1' }
    for (const storage of [{}, { LADE_STORAGE: 'file:/mnt/objects' }]) {
      expect(read({ ...env, ...storage }).retrieval).toMatchObject({ redirectSeconds: 0, accelPrefix: '/lade-blobs/' })
    }
    expect(refusal({ ...env, LADE_STORAGE: 'none' })).toBe(
      'LADE_ACCEL is set, but LADE_STORAGE is not a directory that a proxy can read.',
    )
    expect(refusal({}, { accel: '/x/' })).toBe(
      '--accel is set, so LADE_TRUSTED_PROXIES must name the proxy that sends the files.',
    )
  })

  it('redirects to S3, from where no proxy sends files', () => {
    const env = { LADE_STORAGE: 's3://files/lade' }
    expect(read({ ...env, LADE_S3_REDIRECT_SECONDS: '300' }).retrieval).toMatchObject({ redirectSeconds: 300 })
    expect(read(env).retrieval).toMatchObject({ redirectSeconds: 0 })
    expect(refusal({ ...env, LADE_ACCEL: '/lade-blobs/', LADE_TRUSTED_PROXIES: '::1' })).toMatch(
      /^LADE_ACCEL is set, but/,
    )
  })

  it.each([{}, { LADE_STORAGE: 'none' }, { LADE_STORAGE: 'file:/mnt/objects' }])(
    'refuses redirects to a storage that has no URLs, such as that of %j',
    (storage) => {
      expect(refusal({ ...storage, LADE_S3_REDIRECT_SECONDS: '300' })).toBe(
        'LADE_S3_REDIRECT_SECONDS is 300, but LADE_STORAGE is not an S3 storage.',
      )
    },
  )

  it('refuses more copies of a file than there are provers', () => {
    const two = 'local,https://prover.example'
    expect(read({ LADE_PROVER: two, LADE_REDUNDANCY: '2' }).placement.copies).toBe(2)
    expect(refusal({ LADE_PROVER: two, LADE_REDUNDANCY: '3' })).toBe(
      'LADE_REDUNDANCY is 3, but LADE_PROVER names only 2 provers. Add provers or lower LADE_REDUNDANCY.',
    )
    expect(refusal({}, { redundancy: '3' })).toBe(
      '--redundancy is 3, but LADE_PROVER names only 1 prover. Add provers or lower --redundancy.',
    )
  })

  it('takes provers of Curio together with who pays them, and an address to fetch from', () => {
    const account = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
    const env = { LADE_PROVER: `curio+https://sp.example#${account}`, LADE_CURIO_KEY: `0x${'11'.repeat(32)}` }
    expect(read(env).provers).toEqual([{ kind: 'curio', origin: 'https://sp.example', account }])
    expect(read(env).curioKey?.reveal()).toBe(env.LADE_CURIO_KEY)
    expect(refusal({ LADE_PROVER: env.LADE_PROVER })).toMatch(
      /^LADE_PROVER names .* LADE_CURIO_KEY must be set to pay it/,
    )
    expect(refusal({ LADE_CURIO_KEY: env.LADE_CURIO_KEY })).toMatch(/^LADE_CURIO_KEY is set, but LADE_PROVER names no/)
    expect(read(env).placement.ipfsCopies).toBe(0)
    expect(read({ ...env, LADE_CURIO_IPFS_COPIES: '2' }).placement.ipfsCopies).toBe(2)
    expect(refusal({ LADE_CURIO_IPFS_COPIES: '1' })).toMatch(/^LADE_CURIO_IPFS_COPIES is set, but LADE_PROVER names no/)
    const pulling = { ...env, LADE_PROVER: `curio-pull+https://sp.example#${account}` }
    expect(refusal(pulling)).toMatch(/^LADE_PROVER names .* LADE_PUBLIC_URL must be an https URL/)
    expect(refusal({ ...pulling, LADE_PUBLIC_URL: 'http://lade.example' })).toContain('LADE_PUBLIC_URL')
    expect(read({ ...pulling, LADE_PUBLIC_URL: 'https://lade.example' }).provers).toHaveLength(1)
  })

  it('makes deals on the chain with a contract and a key', () => {
    const env = {
      LADE_CHAIN_RPC: 'https://rpc.example',
      LADE_USDC: `0x${'11'.repeat(20)}`,
      LADE_MARKETPLACE: `0x${'22'.repeat(20)}`,
      LADE_CHAIN_KEY: `0x${'33'.repeat(32)}`,
    }
    expect(read(env).chain?.marketplace).toMatchObject({
      contracts: [`0x${'22'.repeat(20)}`],
      microUsdcPerGibDay: 100n,
      waitMs: 5000,
      confirmations: 2,
      finalityBlocks: 64,
    })
    const more = { ...env, LADE_DEAL_USDC_PER_GIB_DAY: '0', LADE_DEAL_WAIT_MS: '0', LADE_CHAIN_CONFIRMATIONS: '9' }
    const marketplace = read(more).chain?.marketplace
    expect(marketplace).toMatchObject({ microUsdcPerGibDay: 0n, waitMs: 0, confirmations: 9 })
    expect(marketplace?.privateKey.reveal()).toBe(env.LADE_CHAIN_KEY)
    const [first, second] = [env.LADE_MARKETPLACE, `0x${'44'.repeat(20)}`]
    const several = { ...env, LADE_MARKETPLACE: `${first}, ${second}` }
    expect(read(several).chain?.marketplace?.contracts).toEqual([first, second])
    expect(refusal({ ...env, LADE_MARKETPLACE: `${first},${first}` })).toBe(
      `LADE_MARKETPLACE names the contract ${first} twice.`,
    )
    for (const addresses of [`${first},`, `${first},0x12`]) {
      expect(refusal({ ...env, LADE_MARKETPLACE: addresses })).toContain('or several of these, comma-separated')
    }
    const { LADE_CHAIN_KEY: _key, ...keyless } = env
    expect(refusal(keyless)).toBe('LADE_MARKETPLACE is set, so LADE_CHAIN_KEY must be set as well.')
    for (const key of [`0x${'00'.repeat(32)}`, `0x${'ff'.repeat(32)}`, '33'.repeat(32)]) {
      expect(refusal({ ...env, LADE_CHAIN_KEY: key })).toContain('LADE_CHAIN_KEY is invalid (its value is not shown)')
    }
  })

  it('reads contracts from the address files of their deployments', () => {
    const dir = mkdtempSync(join(tmpdir(), 'lade-config-'))
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
    const [usdc, newer, older] = ['11', '22', '33'].map((digits) => `0x${digits.repeat(20)}`)
    const writeFile = (name: string, facts: object) => writeFileSync(join(dir, name), JSON.stringify(facts))
    writeFile('new.json', { chainId: 8453, usdc, marketplace: newer, version: 2, firstDealId: '51' })
    writeFile('other-chain.json', { chainId: 1, marketplace: older })
    writeFile('other-token.json', { chainId: 8453, usdc: older, marketplace: older })
    const env = {
      LADE_CHAIN_RPC: 'https://rpc.example',
      LADE_USDC: usdc,
      LADE_MARKETPLACE: `new.json,${older}`,
      LADE_CHAIN_KEY: `0x${'33'.repeat(32)}`,
    }
    const inDir = (more: object) => readConfig({ env: { ...env, ...more }, cwd: dir })
    expect(inDir({}).chain).toMatchObject({ chainId: 8453, marketplace: { contracts: [newer, older] } })
    const refused = (more: object) => expect(() => inDir(more))
    refused({ LADE_MARKETPLACE: 'absent.json' }).toThrow('names absent.json, which cannot be read (ENOENT).')
    refused({ LADE_CHAIN_ID: '1' }).toThrow('names new.json, which is of chain 8453, not of chain 1.')
    refused({ LADE_MARKETPLACE: 'new.json,other-chain.json' }).toThrow('which is of chain 1, not of chain 8453.')
    refused({ LADE_MARKETPLACE: 'other-token.json' }).toThrow(`is paid in ${older}, not in ${usdc}.`)
    refused({ LADE_MARKETPLACE: `new.json,${newer}` }).toThrow(`names the contract ${newer} twice.`)
  })

  it('takes the mail server and the sender, also where signup does not need them', () => {
    const env = { LADE_SMTP_URL: 'smtps://ada:p%40ss@mail.example', LADE_MAIL_FROM: 'Lade <lade@mail.example>' }
    const { signup, mail } = read(env)
    expect({ signup, ...mail?.server, ...mail?.from }).toMatchObject({
      signup: 'open',
      host: 'mail.example',
      port: 465,
      name: 'Lade',
      address: 'lade@mail.example',
    })
    expect(read({ ...env, LADE_SIGNUP: 'email' }).signup).toBe('email')
  })

  it.each([
    [{ LADE_MAIL_FROM: 'a@b.co' }, 'LADE_SMTP_URL'],
    [{ LADE_SMTP_URL: 'smtp://127.0.0.1' }, 'LADE_MAIL_FROM'],
    [{}, 'LADE_SMTP_URL'],
  ])('refuses signup by email with nothing but %j', (env, lacking) => {
    const sentence = `is email, so ${lacking} must be set to send login codes.`
    expect(refusal({ ...env, LADE_SIGNUP: 'email' })).toBe(`LADE_SIGNUP ${sentence}`)
    expect(refusal(env, { signup: 'email' })).toBe(`--signup ${sentence}`)
  })

  it('refuses a key of the other algorithm', () => {
    const pem = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'pem', type: 'pkcs8' })
    const key = String(pem)
    expect(refusal({ LADE_TOKEN_KEY: key })).toBe(
      'LADE_TOKEN_KEY is an RSA key, but LADE_TOKEN_ALG is HS256, which needs a secret of at least 32 bytes.',
    )
    expect(refusal({ LADE_TOKEN_KEY: 'k'.repeat(40), LADE_TOKEN_ALG: 'RS256' })).toBe(
      'LADE_TOKEN_ALG is RS256, but LADE_TOKEN_KEY is not an RSA private key of 2048 to 8192 bits as PEM or JWK.',
    )
    expect(read({ LADE_TOKEN_KEY: key, LADE_TOKEN_ALG: 'RS256' }).tokenKey?.reveal()).toBe(key)
  })

  it('refuses a default term that is longer than the longest term', () => {
    expect(refusal({ LADE_TERM_MAX_DAYS: '10' }, { 'token-file-days': '11' })).toBe(
      '--token-file-days is 11, but the maximum is LADE_TERM_MAX_DAYS, which is 10.',
    )
    expect(refusal({ LADE_SPONSORED_FILE_DAYS: '366' })).toMatch(/^LADE_SPONSORED_FILE_DAYS is 366,/)
  })

  it('refuses a content URL on the origin of the public URL', () => {
    expect(refusal({ LADE_PUBLIC_URL: 'https://a.example', LADE_CONTENT_URL: 'https://a.example/files' })).toMatch(
      /^LADE_CONTENT_URL/,
    )
    expect(refusal({ LADE_CONTENT_URL: 'http://127.0.0.1:8080' })).toMatch(/^LADE_CONTENT_URL/)
    const sites = { LADE_SITES_URL: 'https://*.ipfs.a.example' }
    expect(refusal({ ...sites, LADE_PUBLIC_URL: 'https://x.ipfs.a.example' })).toMatch(/^LADE_PUBLIC_URL/)
    expect(refusal({ ...sites, LADE_CONTENT_URL: 'https://x.ipns.a.example' })).toMatch(/^LADE_CONTENT_URL/)
    expect(read({ ...sites, LADE_PUBLIC_URL: 'https://ipfs.a.example' }).sitesUrl).toBe(sites.LADE_SITES_URL)
    expect(refusal({ LADE_HOST: '::1', LADE_CONTENT_URL: 'http://[::1]:8080' })).toMatch(/^LADE_CONTENT_URL/)
  })

  it.each([
    ['LADE_PROT', 'LADE_PORT'],
    ['LADE_PUBLIC_URI', 'LADE_PUBLIC_URL'],
    ['LADE_SPONSERED_FILE_MB', 'LADE_SPONSORED_FILE_MB'],
    ['LADE_TOKENKEY', 'LADE_TOKEN_KEY'],
  ])('refuses the unknown variable %s and names %s', (name, suggestion) => {
    expect(refusal({ [name]: 'private' })).toBe(`${name} is not a Lade setting. Did you mean ${suggestion}?`)
  })

  it('ignores the variables of other programs', () => {
    const foreign = {
      LADE_TOKEN: 'x',
      LADE_URL: 'x',
      LADE_WALLET: 'x',
      LADE_WALLET_PASSWORD_FILE: 'x',
      LADE_TEST_PLAN: 'full',
      LADE_ACCEPTANCE_URL: 'x',
      PORT: '1',
      LADEN: '1',
    }
    expect(read(foreign)).toEqual(read({}))
  })

  it('never shows a secret, neither in the value nor in a refusal', () => {
    const key = 'hunter2-'.repeat(5)
    expect(inspect(read({ LADE_TOKEN_KEY: key }), { depth: 9 })).not.toContain('hunter2')
    expect(JSON.stringify(read({ LADE_TOKEN_KEY: key }))).not.toContain('hunter2')
    const mail = { LADE_SMTP_URL: 'smtp://lade:hunter2@mail.example', LADE_MAIL_FROM: 'a@b.co' }
    expect(inspect(read(mail), { depth: 9 }) + JSON.stringify(read(mail))).not.toContain('hunter2')
    const refusals = [
      refusal({ LADE_TOKEN_KEY: 'hunter2' }),
      refusal({ LADE_CHAIN_KEY: 'hunter2' }),
      refusal({ LADE_SMTP_URL: 'smtp://lade:hunter2@mail.example/?pool=true' }),
      refusal({ LADE_DATABASE: 'postgres://lade:hunter2@db/' }),
      refusal({ LADE_DATABASE: 'postgres:/lade:hunter2@db/lade' }),
      refusal({ LADE_STORAGE: 's3://key:hunter2@bucket' }),
      refusal({ LADE_STORAGE: 's3://bucket?secret=hunter2' }),
      refusal({ LADE_PUBLIC_URL: 'https://lade:hunter2@lade.example' }),
    ]
    for (const sentence of refusals) expect(sentence).not.toContain('hunter2')
  })

  it('error: a flag that no setting has is a TypeError', () => {
    expect(() => read({}, { prot: '1' })).toThrow(TypeError)
  })
})

describe('SETTINGS', () => {
  const settings = Object.values<Setting>(SETTINGS)

  it('gives each setting a variable of its own and a meaning in sentences', () => {
    expect(new Set(settings.map(({ name }) => name)).size).toBe(settings.length)
    for (const { meaning } of settings) expect(meaning).toMatch(/^[A-Z\d].*\.$/)
  })

  it('has a default that each setting itself accepts', () => {
    for (const setting of settings) {
      if (setting.default !== undefined) expect(setting.form.schema.safeParse(setting.default).success).toBe(true)
    }
  })

  it('derives the flag from the variable', () => {
    expect(flagOf('LADE_SPONSORED_FILE_MB')).toBe('--sponsored-file-mb')
  })
})

describe('configurationTables', () => {
  it('has a row for every setting, with as many cells as the head', () => {
    const lines = configurationTables()
      .split('\n')
      .filter((line) => line.startsWith('|'))
    const rows = lines.filter((line) => line.startsWith('| `LADE_'))
    expect(rows).toHaveLength(Object.keys(SETTINGS).length)
    expect(new Set(lines.map((line) => line.split(/(?<!\\)\|/).length))).toEqual(new Set([7]))
    expect(lines).toContainEqual(
      expect.stringMatching(/^\| `LADE_PORT` \| `--port` \| `8080` \| a whole number from 0 to 65535 \|/),
    )
  })
})

describe('the configuration files', () => {
  it('read nothing from the process but the working directory', () => {
    for (const file of [
      'config.ts',
      'read-settings.ts',
      'renamed-settings.ts',
      'settings.ts',
      'setting-forms.ts',
      'mail-forms.ts',
      'token-key.ts',
    ]) {
      const source = readFileSync(new URL(file, import.meta.url), 'utf8')
      expect(source).not.toContain('process.env')
    }
  })
})
