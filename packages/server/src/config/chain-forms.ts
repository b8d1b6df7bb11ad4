import { checksumAddress, isChecksummedAddress, isZeroAddress } from '@lade/core/wire'
import { SecretString } from '@lade/node/settings'
import { z } from 'zod'
import type { SettingForm } from './setting-forms.ts'

/** Digits of USDC behind the point, on the chain and in the price. */
const USDC_DECIMALS = 6
const USDC_TEXT = /^(0|[1-9]\d{0,8})(\.\d{1,6})?$/

/** SEC 2, section 2.4.1. */
const SECP256K1_ORDER = 0xffff_ffff_ffff_ffff_ffff_ffff_ffff_fffe_baae_dce6_af48_a03b_bfd2_5e8c_d036_4141n

/** An http or https address; whatever of it names an account or holds a key stays inside the secret. */
export const rpcForm: SettingForm<SecretString> = {
  accepts: 'the http or https URL of an Ethereum JSON-RPC endpoint',
  schema: z
    .string()
    .refine((text) => /^https?:\/\/[^\s#\\]+$/i.test(text) && URL.canParse(text))
    .transform((text) => new SecretString(text)),
}

/**
 * The address of a contract, given back in the mixed case of EIP-55. Mixed case that is not that is a slip; one case alone
 * says nothing and is taken.
 */
export const addressForm: SettingForm<`0x${string}`> = {
  accepts: 'an address: 0x and 40 hex digits, in EIP-55 mixed case, all lower case or all upper case',
  schema: z
    .string()
    .regex(/^0x[0-9a-fA-F]{40}$/)
    .refine((text) => isOneCase(text.slice(2)) || isChecksummedAddress(text))
    .refine((text) => !isZeroAddress(text))
    .transform(checksumAddress),
}

/** A contract, by its address or by the path of the address file that its deployment left. */
export type NamedContract =
  | { readonly address: `0x${string}`; readonly path?: undefined }
  | { readonly address?: undefined; readonly path: string }

/** Contracts, comma-separated; a path is one that ends in `.json`. */
export const contractsForm: SettingForm<readonly NamedContract[]> = {
  accepts: `${addressForm.accepts}; or the path of an address file (*.json); or several of these, comma-separated`,
  schema: z
    .string()
    .transform((text) => text.split(',').map((named) => named.trim()))
    .pipe(
      z.array(
        z.union([
          addressForm.schema.transform((address) => ({ address })),
          z
            .string()
            .regex(/^[^\0]+\.json$/)
            .transform((path) => ({ path })),
        ]),
      ),
    ),
}

/** An amount of USDC with up to six digits behind the point, more than nothing; gives it in units of 10⁻⁶ USDC. */
export const usdcForm: SettingForm<bigint> = {
  accepts: 'a decimal number greater than 0 with up to 6 decimals, such as 1 or 0.25',
  schema: z
    .string()
    .regex(USDC_TEXT)
    .transform(microUsdcOf)
    .refine((amount) => amount > 0n),
}

/** As `usdcForm`, and also nothing. */
export const usdcPriceForm: SettingForm<bigint> = {
  accepts: 'a decimal number with up to 6 decimals, such as 0 or 0.0001',
  schema: z.string().regex(USDC_TEXT).transform(microUsdcOf),
}

/** The private key of an account: a number below the order of secp256k1, which is more than nothing. */
export const chainKeyForm: SettingForm<SecretString> = {
  accepts: 'a private key: 0x and 64 hex digits',
  schema: z
    .string()
    .refine((text) => /^0x[0-9a-fA-F]{64}$/.test(text) && BigInt(text) > 0n && BigInt(text) < SECP256K1_ORDER)
    .transform((text) => new SecretString(text)),
}

/** Reads a decimal amount. @example microUsdcOf('0.25') // 250000n */
function microUsdcOf(text: string): bigint {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(USDC_DECIMALS, '0'))
}

function isOneCase(digits: string): boolean {
  return digits === digits.toLowerCase() || digits === digits.toUpperCase()
}
