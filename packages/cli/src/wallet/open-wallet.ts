import type { PrivateKeyAccount } from 'viem/accounts'
import { ask, canAsk } from '../prompt.ts'
import type { Terminal } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'
import { type Keystore, openKeystore, readKeystore } from './keystore.ts'
import { readSecretFile } from './secret-file.ts'

/** Where a wallet is kept. */
export interface WalletFile {
  readonly name: string
  /** What named it, such as `--wallet`. */
  readonly from: string
}

/**
 * Opens the wallet in a file: one private key in hex, or a keystore, whose password is in the file that
 * `LADE_WALLET_PASSWORD_FILE` names or is asked for.
 *
 * A bare key that other users of the machine can read is not used, as ssh does not use one.
 *
 * @throws {UsageError} for a file that holds no wallet, one that is open to others, and a wrong password.
 * @throws {LocalError} for a file that cannot be read.
 */
export async function openWallet({ name, from }: WalletFile, terminal: Terminal): Promise<PrivateKeyAccount> {
  const { text, openMode } = await readSecretFile(name, from, terminal)
  if (text.trimStart().startsWith('{')) return openLocked(readKeystore(text, name), name, terminal)
  refuseOpen(name, openMode, 'If others may have read it, move its funds to a new wallet.')
  const key = /^(?:0x)?([0-9a-f]{64})$/i.exec(text.trim())?.[1]
  if (key === undefined) {
    throw new UsageError(
      `${name} is not a wallet. Expected a private key of 64 hex digits or a keystore; "lade wallet new" creates one.`,
    )
  }
  return accountOf(key, name)
}

async function openLocked(store: Keystore, name: string, terminal: Terminal): Promise<PrivateKeyAccount> {
  const key = await openKeystore(store, await passwordFor(name, terminal))
  if (key === undefined) throw new UsageError(`The password for ${name} is wrong.`)
  const account = await accountOf(key.toString('hex'), name)
  const { address } = store
  if (address !== undefined && address !== account.address.slice(2).toLowerCase()) {
    throw new UsageError(`${name} claims the address 0x${address} but contains the key of ${account.address}.`)
  }
  return account
}

async function passwordFor(name: string, terminal: Terminal): Promise<string> {
  const { LADE_WALLET_PASSWORD_FILE: file } = terminal.env
  if (file) {
    const { text, openMode } = await readSecretFile(file, 'LADE_WALLET_PASSWORD_FILE', terminal)
    refuseOpen(file, openMode, 'If others may have read it, change the password.')
    return text.replace(/\r?\n$/, '')
  }
  if (canAsk(terminal)) return ask(terminal, `Password of ${name} (not shown): `, { isHidden: true })
  throw new UsageError(`${name} needs a password. Set LADE_WALLET_PASSWORD_FILE to a file that contains it.`)
}

function refuseOpen(name: string, openMode: string | undefined, advice: string): void {
  if (openMode === undefined) return
  throw new UsageError(
    `${name} is readable by other users of this machine (mode ${openMode}), so Lade does not use it. Run chmod 600 on it. ${advice}`,
  )
}

async function accountOf(key: string, name: string): Promise<PrivateKeyAccount> {
  // Loaded here, since most commands sign nothing.
  const { privateKeyToAccount } = await import('viem/accounts')
  try {
    return privateKeyToAccount(`0x${key}`)
  } catch {
    // Zero, or beyond the order of the curve; what it throws may repeat the key.
    throw new UsageError(`The number in ${name} is not a valid private key.`)
  }
}
