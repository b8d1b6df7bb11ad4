import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { LadeClient, RequestRetry, Wallet } from '@lade/client'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Terminal } from '../terminal.ts'
import { LocalError, UsageError } from '../usage-error.ts'
import type { ChosenWallet } from '../wallet/signing-wallet.ts'
import { type OpenedLogins, readLogins } from './login-file.ts'
import { DEFAULT_URL, readServiceUrl } from './service-url.ts'
import { readTokenFacts } from './token-facts.ts'
import { chosenWallet } from './wallet-options.ts'

/** Which service is meant, and as whom. */
export interface Account {
  readonly url: string
  /** Absent: what needs a token is refused, and uploads are sponsored. */
  readonly token?: string
  /** For people: where the token came from. */
  readonly tokenFrom?: string
  /** In place of a token. */
  readonly wallet?: ChosenWallet
  readonly saved: OpenedLogins
}

/** An account, and what talks to its service. */
export interface Connection extends Account {
  readonly client: LadeClient
}

interface AccountFlags {
  readonly url?: string
  readonly tokenFile?: string
}

/** Gives `command` the flags that choose service and token. */
export function addAccountOptions(command: Command): void {
  command
    .option(
      '--url <address>',
      `URL of the service (LADE_URL; default: the service you logged in to, else ${DEFAULT_URL}).`,
    )
    .option(
      '--token-file <file>',
      'File that contains the token. Alternatively, set LADE_TOKEN. There is no flag for the token itself, because other users of the machine can read flags.',
    )
    .addOption(new Option('--token <token>').hideHelp().argParser(refuseToken))
}

/**
 * Finds the service and the token: a flag wins over its variable, and that over what `lade login` saved.
 *
 * A saved token is used for the service that it was saved for, and no other. A wallet, where the command takes one, stands in
 * the place of the token. Warnings about the file of logins are written to standard error.
 *
 * @throws {UsageError} for an address, a token or a file that cannot be used.
 */
export async function accountOf(command: Command, terminal: Terminal): Promise<Account> {
  const flags: AccountFlags = command.opts()
  const saved = await readLogins(terminal)
  for (const warning of saved.warnings) terminal.note(`Warning: ${warning}`)
  const url = urlOf(flags, terminal, saved)
  const wallet = chosenWallet(command, terminal)
  if (wallet !== undefined) return { url, wallet, saved }
  if (flags.tokenFile !== undefined) {
    const file = resolve(terminal.cwd, flags.tokenFile)
    return { url, token: checkedToken(await readTokenFile(file), flags.tokenFile), tokenFrom: flags.tokenFile, saved }
  }
  const { LADE_TOKEN } = terminal.env
  if (LADE_TOKEN) return { url, token: checkedToken(LADE_TOKEN, 'LADE_TOKEN'), tokenFrom: 'LADE_TOKEN', saved }
  const token = saved.logins.tokens[url]
  return token === undefined ? { url, saved } : { url, token, tokenFrom: saved.file, saved }
}

/** Tells apart whose uploads are whose, for what is remembered of them: the service, and a token, a wallet or nobody. */
export function accountKey({ url, token, wallet }: Pick<Account, 'url' | 'token' | 'wallet'>): string {
  return JSON.stringify([url, wallet?.name ?? (token && (readTokenFacts(token)?.email ?? token)) ?? null])
}

export interface ConnectOptions {
  /** Leaves the token out. */
  readonly isSponsored?: boolean
  /**
   * For commands that may take long anyhow. With it, the client waits longer for a service that does not answer, and at least half a minute for
   * one that has answered before. Called before each wait.
   */
  readonly onRetry?: ((retry: RequestRetry) => void) | undefined
  /** The service of a link, where one was given in place of an id. */
  readonly linkUrl?: string | undefined
}

/** As {@link accountOf}, with the client that talks to the service. */
export async function connect(
  command: Command,
  terminal: Terminal,
  { isSponsored = false, onRetry, linkUrl }: ConnectOptions = {},
): Promise<Connection> {
  const found = atLink(await accountOf(command, terminal), command, linkUrl)
  const { token, tokenFrom, wallet, ...rest } = found
  const account: Account = isSponsored ? rest : found
  return { ...account, client: await clientAs(account, terminal, { onRetry }) }
}

/**
 * The account at the service of a link. Anybody may have written the link: another service gets no token but the one saved for it.
 *
 * @throws {UsageError} where another service is named by a flag.
 */
function atLink(account: Account, command: Command, linkUrl: string | undefined): Account {
  if (linkUrl === undefined) return account
  const url = readServiceUrl(linkUrl, 'The link')
  if (url === account.url) return account
  const { url: named, tokenFile, wallet }: AccountFlags & { readonly wallet?: string } = command.opts()
  if (named !== undefined)
    throw new UsageError(`The link leads to ${url}, but --url names ${account.url}. Leave out --url.`)
  // What was named for this one command is meant for the link.
  if (tokenFile !== undefined || wallet !== undefined) return { ...account, url }
  const { saved } = account
  const token = saved.logins.tokens[url]
  return token === undefined ? { url, saved } : { url, token, tokenFrom: saved.file, saved }
}

/** What talks to the service of an account, as its owner; a locked wallet is opened for it. */
export async function clientAs(
  { url, token, wallet }: Account,
  terminal: Terminal,
  options: Pick<ConnectOptions, 'onRetry'> = {},
): Promise<LadeClient> {
  if (wallet === undefined) return clientOf({ url, token }, options)
  const { signingWallet } = await import('../wallet/signing-wallet.ts')
  return clientOf({ url, wallet: await signingWallet(wallet, await clientOf({ url }), url, terminal) }, options)
}

/** Somebody at a keyboard waits half a second for a service that is not there. */
const FEW_RETRIES = { attempts: 3 }
/** What has begun goes on after a restart of the service, of up to half a minute. */
const ALL_RETRIES = { attempts: 12, firstContactAttempts: 5 }

/** What talks to a service. Loaded when it is needed, since most of a short command's time goes into loading. */
export async function clientOf(
  { url, token, wallet }: { readonly url: string; readonly token?: string | undefined; readonly wallet?: Wallet },
  { onRetry }: Pick<ConnectOptions, 'onRetry'> = {},
): Promise<LadeClient> {
  const { createLadeClient } = await import('@lade/client')
  return createLadeClient({ url, token, wallet, retry: onRetry === undefined ? FEW_RETRIES : ALL_RETRIES, onRetry })
}

/**
 * The token in `text`, without the white space around it.
 *
 * @throws {UsageError} for what cannot be sent as one; it is not repeated in the message.
 */
export function checkedToken(text: string, name: string): string {
  const token = text.trim()
  if (/^pk_live_[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return token
  throw new UsageError(
    token.startsWith('pk_live_')
      ? `${name} contains a damaged token. A token has three parts separated by dots, and no spaces. Copy it again.`
      : `${name} is not a token; tokens start with pk_live_. Get one with "lade login --email ADDRESS".`,
  )
}

function urlOf(flags: AccountFlags, { env }: Terminal, { logins, file }: OpenedLogins): string {
  if (flags.url !== undefined) return readServiceUrl(flags.url, '--url')
  if (env.LADE_URL) return readServiceUrl(env.LADE_URL, 'LADE_URL')
  return logins.url === undefined ? DEFAULT_URL : readServiceUrl(logins.url, `"url" in ${file}`)
}

async function readTokenFile(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new LocalError(`Cannot read the token file ${file}.`, { cause: error })
  }
}

function refuseToken(): never {
  throw new InvalidArgumentError(
    'Every user of this machine can read a token on the command line. Revoke the token, then use "lade login", --token-file or LADE_TOKEN.',
  )
}
