import type { MarketplaceCall } from '../chain/chain.ts'

/** What a recorded transaction does; `empty` has no effect and only uses up its nonce. */
export type RecordedCall = MarketplaceCall | { readonly kind: 'empty' }

/** Fields that are big numbers, written as decimal text. */
const BIG_NUMBERS = ['dealId', 'paymentMicroUsdc', 'bondMicroUsdc']

/** @returns JSON; the same call gives the same text. */
export function writeCall(call: RecordedCall): string {
  return JSON.stringify(call, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value))
}

/** What `writeCall` wrote. @throws {SyntaxError} for anything else. */
export function readCall(text: string): RecordedCall {
  return JSON.parse(text, (key, value: unknown) =>
    BIG_NUMBERS.includes(key) && typeof value === 'string' ? BigInt(value) : value,
  )
}

/** What a call takes from the account, in units of 10⁻⁶ USDC. */
export function paymentOf(call: RecordedCall): bigint {
  switch (call.kind) {
    case 'propose':
      return call.deals.reduce((sum, { paymentMicroUsdc }) => sum + paymentMicroUsdc, 0n)
    case 'extend':
      return call.paymentMicroUsdc
    case 'withdraw':
    case 'settle':
    case 'slash':
    case 'end':
    case 'approve':
    case 'empty':
      return 0n
  }
}
