import { randomUUID } from 'node:crypto'
import type { Scope } from '@lade/core/wire'
import { type Config, tokenKeyMaterial } from '@lade/server/config'
import { labelOf, mintToken, normalizeEmail, SigningKey, userIdOf } from '@lade/server/keys'
import { type Command, Option } from 'commander'
import { type FoundKey, withKeyPlace } from '../key-source.ts'
import { wholeNumberIn } from '../number-option.ts'
import { ALL_SCOPES, parseMintedScopes } from '../scopes-option.ts'
import { addSettingOptions, configOf } from '../setting-options.ts'
import type { Terminal } from '../terminal.ts'

const SETTING_KEYS = ['dataDir', 'database', 'tokenKey', 'tokenAlg', 'publicUrl'] as const
const DEFAULT_TTL_DAYS = 365
const MAXIMUM_TTL_DAYS = 3650
const MAXIMUM_QUOTA_MB = 1_000_000_000
const DAY_SECONDS = 86_400

interface MintOptions {
  readonly email: string
  readonly label?: string
  readonly scopes: readonly Scope[]
  readonly quotaMb?: number
  readonly ttlDays: number
  readonly json?: boolean
}

/** `lade keys mint`: a token from the operator, for a service whose signup is closed. Needs the key, not the server. */
export function addKeysMint(keys: Command, terminal: Terminal): void {
  const command = keys
    .command('mint')
    .summary('Mint a token.')
    .description('Mint a token. Standard output gets only the token; standard error gets its details.')
    .requiredOption('--email <address>', 'Email address of the user.')
    .option('--label <text>', 'Name of the token.')
    .addOption(
      new Option('--scopes <list>', 'Comma-separated scopes of the token: put, get, list, pin; admin for operators.')
        .argParser(parseMintedScopes)
        .default(ALL_SCOPES, 'put,get,list,pin'),
    )
    .option(
      '--quota-mb <number>',
      'Daily quota, in MB of 1,048,576 bytes (default: LADE_TOKEN_DAILY_MB).',
      wholeNumberIn(0, MAXIMUM_QUOTA_MB),
    )
    .option(
      '--ttl-days <number>',
      'Lifetime of the token, in days.',
      wholeNumberIn(1, MAXIMUM_TTL_DAYS),
      DEFAULT_TTL_DAYS,
    )
    .option('--json', 'Print one JSON object with the token.')
    .action((options: MintOptions) => mint(options, configOf(command, SETTING_KEYS, terminal), terminal))
  addSettingOptions(command, SETTING_KEYS)
}

async function mint(options: MintOptions, config: Config, terminal: Terminal): Promise<void> {
  const now = terminal.now()
  const email = normalizeEmail(options.email)
  const label = options.label === undefined ? undefined : labelOf(options.label)
  const { key, source, isNew, warnings } = await keyOf(config, now)
  const iat = Math.floor(now.getTime() / 1000)
  const claims = {
    sub: userIdOf(email),
    email,
    scopes: options.scopes,
    quotaMb: options.quotaMb ?? config.token.quotaMb,
    iat,
    exp: iat + options.ttlDays * DAY_SECONDS,
    jti: randomUUID(),
    ...(label !== undefined && { label }),
  }
  const token = await mintToken(claims, key, issuerOf(config))
  const expiresAt = new Date(claims.exp * 1000).toISOString()
  for (const warning of warnings) terminal.note(`Warning: ${warning}`)
  if (options.json) {
    const { sub: userId, scopes, quotaMb, jti } = claims
    terminal.print(JSON.stringify({ token, userId, email, scopes, quotaMb, expiresAt, jti, label: label ?? null }))
    return
  }
  terminal.print(token)
  if (label !== undefined) terminal.note(`label: ${JSON.stringify(label)}`)
  terminal.note(`user: ${email} (${claims.sub})`)
  terminal.note(`scopes: ${claims.scopes.join(', ')}`)
  terminal.note(`daily quota: ${claims.quotaMb} MB`)
  terminal.note(`expires: ${expiresAt}`)
  terminal.note(`jti: ${claims.jti}`)
  terminal.note(`signed with: ${key.id} from ${source}`)
  if (isNew) {
    terminal.note(
      'This created a new signing key. If the service already runs, mint with its LADE_DATA_DIR or LADE_DATABASE instead.',
    )
  }
  terminal.note('This is the only time the token is shown.')
}

/** What the service takes for its own URL: the port of one that chose it by itself is not known here. */
function issuerOf({ publicUrl, host, port }: Config): string {
  return publicUrl ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

interface MintingKey extends FoundKey {
  readonly source: string
  /** True where there was none, so that no running service knows it. */
  readonly isNew: boolean
}

async function keyOf(config: Config, now: Date): Promise<MintingKey> {
  if (config.tokenKey !== undefined) {
    const key = await SigningKey.fromMaterial(tokenKeyMaterial(config.tokenAlg, config.tokenKey))
    return { key, source: 'LADE_TOKEN_KEY', isNew: false, warnings: [] }
  }
  return withKeyPlace(config, async ({ name, read, open }) => {
    const existing = await read()
    return { ...(existing ?? (await open(now))), source: name, isNew: existing === undefined }
  })
}
