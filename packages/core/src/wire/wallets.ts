import * as z from 'zod'
import { timeField } from './fields.ts'

/** The longest EIP-4361 message that is read. */
const MAX_SIGN_IN_MESSAGE_CHARACTERS = 4096

/** Enough for the signatures of contract wallets, which bring what deploys them: 8 KiB in hex. */
const MAX_SIGNATURE_CHARACTERS = 16_386

const addressField = z.string().describe('Account: 0x and 40 hex digits with EIP-55 mixed case')

/** What a wallet puts into the message that it signs. */
export const walletNonceResult = z.object({
  nonce: z.string().describe('Letters and digits; valid for one sign-in'),
  expiresIn: z.int().describe('Seconds for which it is valid'),
})
export type WalletNonceResult = z.infer<typeof walletNonceResult>

export const walletVerifyRequest = z.object({
  message: z.string().max(MAX_SIGN_IN_MESSAGE_CHARACTERS).describe('The EIP-4361 message, exactly as it was signed'),
  signature: z.string().max(MAX_SIGNATURE_CHARACTERS).describe('Result of personal_sign: 0x and hex'),
})
export type WalletVerifyRequest = z.infer<typeof walletVerifyRequest>

export const walletVerifyResult = z.object({
  token: z.string().describe('A bearer token of 15 minutes; shown only in this response'),
  address: addressField,
  expiresAt: timeField,
})
export type WalletVerifyResult = z.infer<typeof walletVerifyResult>

/** What a wallet has to know to be a caller; null where wallets are none. */
export const walletInfo = z
  .object({
    chainId: z.int().describe('The chain that signatures name and balances are read from'),
    usdc: addressField.describe('The token contract whose balance is the quota'),
    usdcPerGib: z.string().describe('Decimal: USDC balance for each GiB of daily quota'),
  })
  .nullable()
  .describe('Settings for wallets; null if they are not enabled')
export type WalletInfo = z.infer<typeof walletInfo>
