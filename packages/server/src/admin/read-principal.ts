import { isIP } from 'node:net'
import { LadeError } from '@lade/core/errors'
import { checksumAddress } from '@lade/core/wire'
import { addressPrincipal, userPrincipal, walletPrincipal } from '../quotas/principal.ts'
import { normalizeEmail, userIdOf } from '../tokens/email.ts'

const USER = /^user:([0-9a-f]{16})$/
const WALLET = /^wallet:([1-9]\d{0,15}):(0x[0-9a-fA-F]{40})$/
const ADDRESS = /^ip:([^/]+)(\/64)?$/

/**
 * The principal that an operator means: as it is listed, or an IP address, or the email address of a user.
 *
 * @throws {LadeError} `bad_request` for a text that names none, `invalid_email`.
 *
 * @example
 * readPrincipal('ada@example.org') // 'user:cfe00dde46ef9426'
 * readPrincipal('2001:db8:1:2::9') // 'ip:2001:db8:1:2::/64'
 */
export function readPrincipal(text: string): string {
  const asked = text.trim()
  if (asked.includes('@')) return userPrincipal(userIdOf(normalizeEmail(asked)))
  if (USER.test(asked)) return asked
  const [, chainId, account] = WALLET.exec(asked) ?? []
  if (chainId !== undefined && account !== undefined) {
    return walletPrincipal({ chainId: Number(chainId), address: checksumAddress(account) })
  }
  const [, address = asked] = ADDRESS.exec(asked) ?? []
  if (isIP(address) !== 0) return addressPrincipal(address)
  throw new LadeError('bad_request', {
    reason: `${JSON.stringify(asked.slice(0, 80))} is not a caller. Use user:{id}, wallet:{chainId}:{address}, an IP address, or an email address.`,
  })
}
