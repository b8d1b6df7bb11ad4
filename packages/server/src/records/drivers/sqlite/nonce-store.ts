import type { NonceRecords } from '../../record-store.ts'
import type { Writer } from './writer.ts'

/** Nonces of wallets: every question about one uses it up or does not, so all of them are writes. */
export function nonceRecords(writer: Writer): NonceRecords {
  return {
    use: (request) => writer.write('useNonce', request),
    issue: (request) => writer.write('issueNonce', request),
    redeem: (request) => writer.write('redeemNonce', request),
    expire: (request) => writer.write('expireNonces', request),
  }
}
