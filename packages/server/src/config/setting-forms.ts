import { isIP, isIPv6 } from 'node:net'
import { choiceText } from '@lade/core/errors'
import { SecretString } from '@lade/node/settings'
import { z } from 'zod'
import { parseRsaKey, parseTokenKey } from './token-key.ts'

/** One megabyte, here and everywhere: 1,048,576 bytes. */
export const MEGABYTE = 1_048_576

/** How the text of one setting is read, and the words for what it accepts, which complete "it must be …". */
export interface SettingForm<Value> {
  readonly accepts: string
  readonly schema: z.ZodType<Value, string>
}

/** A decimal number without sign, fraction or leading zeros, within bounds that are both included. */
export function wholeNumber(minimum: number, maximum: number): SettingForm<number> {
  return {
    accepts: `a whole number from ${minimum} to ${maximum}`,
    schema: z
      .string()
      .regex(/^(0|[1-9]\d{0,15})$/)
      .transform(Number)
      .pipe(z.int().min(minimum).max(maximum)),
  }
}

/** Exactly one of `words`, in this spelling. */
export function oneOf<const Word extends string>(...words: readonly [Word, ...Word[]]): SettingForm<Word> {
  return { accepts: choiceText(words), schema: z.string().pipe(z.enum(words)) }
}

/** A name or an address to listen on; IPv6 with or without brackets, given back without. */
export const hostForm: SettingForm<string> = {
  accepts: 'an IP address or a host name',
  schema: z
    .string()
    .transform((text) => text.replace(/^\[(.*)\]$/, '$1'))
    .refine((host) => isIP(host) !== 0 || isHostName(host)),
}

/** An http or https address without credentials, query and fragment; given back without trailing slashes. */
export const urlForm: SettingForm<string> = {
  accepts: 'an http or https URL without credentials, query or fragment, such as https://lade.example',
  schema: z
    .string()
    .refine((text) => /^https?:\/\/[^\s?#@\\]+$/i.test(text) && URL.canParse(text))
    .transform((text) => new URL(text).href.replace(/\/+$/, '')),
}

/** The hosts of sites, each named by the CID of its root: `https://*.ipfs.example.org`, without a trailing slash, in lower case. */
export const sitesUrlForm: SettingForm<string> = {
  accepts: 'an http or https URL with * for the CID, such as https://*.ipfs.lade.example',
  schema: z
    .string()
    .transform((text) => text.toLowerCase().replace(/\/$/, ''))
    .refine((text) => {
      const [, host = '', port = '0'] = /^https?:\/\/\*\.ipfs\.([^:/]+)(?::(\d{1,5}))?$/.exec(text) ?? []
      return isHostName(host) && Number(port) <= 65_535
    }),
}

/** A path on this machine, as it was written. */
export const pathForm: SettingForm<string> = {
  accepts: 'the path of a directory',
  schema: z.string().refine(isPath),
}

/** Paths of files, each once. */
export const filesForm: SettingForm<readonly string[]> = {
  accepts: 'none, or comma-separated paths of files, each once',
  schema: z
    .string()
    .transform((text) => (text === 'none' ? [] : text.split(',').map((path) => path.trim())))
    .refine((paths) => paths.every(isPath) && new Set(paths).size === paths.length),
}

/** A path of a URL that begins and ends with a slash, and has no step upwards. */
export const accelForm: SettingForm<string> = {
  accepts: 'a path between slashes, such as /lade-blobs/',
  schema: z.string().regex(/^\/([A-Za-z0-9_-][A-Za-z0-9._-]*\/)+$/),
}

/** Names and addresses with commas between, in lower case, or `none`; IPv6 in brackets, as in `Host`. */
export const hostsForm: SettingForm<readonly string[]> = {
  accepts: 'none, or comma-separated host names and IP addresses without ports',
  schema: z
    .string()
    .transform((text) => (text === 'none' ? [] : text.split(',').map((part) => part.trim().toLowerCase())))
    .refine((hosts) => hosts.every((host) => isIP(host) !== 0 || isHostName(host)))
    .transform((hosts) => hosts.map((host) => (isIPv6(host) ? `[${host}]` : host))),
}

/** Addresses and CIDR ranges with commas between, or `none`. A range of everything would trust every caller's word. */
export const proxiesForm: SettingForm<readonly string[]> = {
  accepts: 'none, or comma-separated IP addresses and CIDR ranges (with a prefix of at least 1)',
  schema: z
    .string()
    .transform((text) => (text === 'none' ? [] : text.split(',').map((part) => part.trim())))
    .refine((ranges) => ranges.every(isAddressOrRange)),
}

/** A secret that is sent in a header: visible ASCII characters, at least so many of them. */
export function secretForm(minimumCharacters: number): SettingForm<SecretString> {
  return {
    accepts: `at least ${minimumCharacters} visible ASCII characters without spaces`,
    schema: z
      .string()
      .refine((text) => text.length >= minimumCharacters && /^[\x21-\x7e]+$/.test(text))
      .transform((text) => new SecretString(text)),
  }
}

/** A signing key of either kind; see `parseTokenKey` and `parseRsaKey`. Which of them is needed is the algorithm's to say. */
export const tokenKeyForm: SettingForm<SecretString> = {
  accepts:
    'at least 32 bytes (64 or more hex digits, base64 of at least 32 bytes, or 32 or more bytes of any other text, without leading or trailing spaces), or an RSA private key of 2048 to 8192 bits as PEM or JWK',
  schema: z
    .string()
    .refine((text) => parseTokenKey(text) !== undefined || parseRsaKey(text) !== undefined)
    .transform((text) => new SecretString(text)),
}

/** Labels of letters, digits and hyphens with dots between; no address. */
export function isHostName(host: string): boolean {
  const isNumeric = /^[\d.]+$/.test(host)
  return (
    host.length <= 253 && !isNumeric && host.split('.').every((label) => /^(?!-)[a-z0-9-]{1,63}(?<!-)$/i.test(label))
  )
}

function isPath(text: string): boolean {
  return text.length > 0 && !text.includes('\0')
}

/** `//host/path` names another machine; `///path` and `/path` are paths here. */
export function pathAfter(scheme: string) {
  return z
    .string()
    .startsWith(scheme)
    .transform((text) => text.slice(scheme.length))
    .refine((path) => isPath(path) && !/^\/\/(?!\/)/.test(path))
}

function isAddressOrRange(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/')
  if (isIP(address) === 0 || address.includes('%') || rest.length > 0) return false
  if (prefix === undefined) return true
  return /^[1-9]\d{0,2}$/.test(prefix) && Number(prefix) <= (isIPv6(address) ? 128 : 32)
}
