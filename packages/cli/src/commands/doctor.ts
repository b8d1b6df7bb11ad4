import { ConfigError } from '@lade/node/settings'
import type { Command } from 'commander'
import about from '../../package.json' with { type: 'json' }
import { type Account, accountOf, addAccountOptions, clientAs } from '../account/connection.ts'
import { addWalletOptions } from '../account/wallet-options.ts'
import { acceptClockHere } from '../doctor/accept-clock-here.ts'
import { adoptHere } from '../doctor/adopt-here.ts'
import { checkLogins, checkNode } from '../doctor/check-account.ts'
import { checkDataDir } from '../doctor/check-data-dir.ts'
import { checkDatabase } from '../doctor/check-database.ts'
import { checkInstallation } from '../doctor/check-installation.ts'
import { checkKey } from '../doctor/check-key.ts'
import { checkPort, checkService } from '../doctor/check-service.ts'
import { checkStorage } from '../doctor/check-storage.ts'
import { checkStoredBytes } from '../doctor/check-stored-bytes.ts'
import { checkToken } from '../doctor/check-token.ts'
import { checkWallet } from '../doctor/check-wallet.ts'
import { broken, type Finding } from '../doctor/finding.ts'
import { Ended, EXIT } from '../exit-code.ts'
import { countOf } from '../output/amounts.ts'
import { printable } from '../output/printable.ts'
import { type Style, styleFor } from '../output/style.ts'
import { addSettingOptions, configOf } from '../setting-options.ts'
import type { Terminal } from '../terminal.ts'
import { LocalError, UsageError } from '../usage-error.ts'

const SETTING_KEYS = ['dataDir', 'database', 'storage', 'host', 'port'] as const

/** `lade doctor`: looks at everything that has to work, and says in sentences what does not. */
export function addDoctor(program: Command, terminal: Terminal): void {
  const command = program
    .command('doctor')
    .summary('Check this machine, the service and the token.')
    .description(
      'Check the data directory, database, storage, service and token, and report problems. Exits with 1 if something is broken.',
    )
    .option('--json', 'Print one JSON object.')
    .option(
      '--adopt',
      'Accept that the current database and file storage belong together, if the service refuses to start with them. Explains the effect and asks first.',
    )
    .option(
      '--accept-clock',
      'Lade stops expiring files when the system clock jumps. Accept the new time, so that expiry resumes. Explains the effect and asks first.',
    )
    .option('-y, --yes', 'With --adopt or --accept-clock: do not ask.')
    .action(() => {
      const { adopt, acceptClock, yes, json }: DoctorFlags = command.opts()
      if (adopt === true && acceptClock === true) throw new UsageError('Use --adopt or --accept-clock, not both.')
      const change = adopt === true ? adoptHere : acceptClock === true ? acceptClockHere : undefined
      if (yes === true && change === undefined) throw new UsageError('--yes needs --adopt or --accept-clock.')
      if (change === undefined) return runChecks(command, terminal)
      if (json === true) throw new UsageError('--json cannot be combined with --adopt or --accept-clock.')
      return change(configOf(command, SETTING_KEYS, terminal), { terminal, isAgreed: yes === true })
    })
  addAccountOptions(command)
  addWalletOptions(command)
  addSettingOptions(command, SETTING_KEYS, {
    host: 'The IP address or host name that the service on this machine listens on.',
    port: 'The TCP port that the service on this machine listens on.',
  })
}

interface DoctorFlags {
  readonly adopt?: boolean
  readonly acceptClock?: boolean
  readonly yes?: boolean
  readonly json?: boolean
}

async function runChecks(command: Command, terminal: Terminal): Promise<void> {
  const isForPrograms = Boolean(command.opts().json)
  const findings: Finding[] = []
  const style = styleFor(terminal.stdout)
  const tell = (...found: readonly Finding[]) => {
    findings.push(...found)
    if (!isForPrograms) for (const finding of found) terminal.print(lineOf(finding, style))
  }

  tell(checkNode(process.versions.node), await checkLogins(terminal))
  const account = await accountIfAny(command, terminal, tell)
  const answers = account === undefined ? false : await lookAtService(account, terminal, tell)
  await lookAtThisMachine(command, terminal, { answers, tell })

  const brokenCount = findings.filter(({ state }) => state === 'broken').length
  if (isForPrograms) terminal.print(JSON.stringify({ broken: brokenCount, findings }))
  else terminal.print(brokenCount === 0 ? 'Nothing is broken.' : `${countOf(brokenCount, 'check')} failed.`)
  if (brokenCount > 0) throw new Ended(EXIT.failed)
}

type Tell = (...findings: readonly Finding[]) => void

async function accountIfAny(command: Command, terminal: Terminal, tell: Tell): Promise<Account | undefined> {
  try {
    return await accountOf(command, { ...terminal, note: () => {} })
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    tell(broken('account', error.message))
    return undefined
  }
}

async function lookAtService(account: Account, terminal: Terminal, tell: Tell): Promise<boolean> {
  const { url } = account
  const nowMs = () => terminal.now().getTime()
  const { answers, findings } = await checkService({ url, version: about.version, fetch, nowMs })
  tell(...findings)
  if (findings[0]?.state === 'ok') tell(await checkCaller(account, terminal))
  return answers
}

async function checkCaller(account: Account, terminal: Terminal): Promise<Finding> {
  const { wallet } = account
  if (wallet === undefined) return checkToken(account, await clientAs(account, terminal), terminal.now())
  try {
    return await checkWallet(wallet.name, await clientAs(account, { ...terminal, note: () => {} }))
  } catch (error) {
    if (error instanceof Ended)
      return broken('wallet', `${wallet.from} names a wallet, but the service does not accept wallets.`)
    if (error instanceof UsageError || error instanceof LocalError) return broken('wallet', error.message)
    throw error
  }
}

async function lookAtThisMachine(
  command: Command,
  terminal: Terminal,
  { answers, tell }: { readonly answers: boolean; readonly tell: Tell },
): Promise<void> {
  try {
    const config = configOf(command, SETTING_KEYS, terminal)
    tell(...(await checkDataDir(config, terminal)), ...(await checkDatabase(config)), ...(await checkStorage(config)))
    tell(await checkInstallation(config), ...(await checkStoredBytes(config)))
    tell(await checkKey(config, terminal.now()))
    if (!answers) tell(await checkPort(config.host, config.port))
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    tell(broken('settings', error.message))
  }
}

function lineOf({ state, sentence }: Finding, style: Style): string {
  const text = printable(sentence)
  switch (state) {
    case 'ok':
      return `${style.good('ok     ')}  ${text}`
    case 'warning':
      return `${style.doubtful('warning')}  ${text}`
    case 'broken':
      return `${style.bad('BROKEN ')}  ${text}`
    case 'unknown':
      return `${style.faint('-      ')}  ${text}`
  }
}
