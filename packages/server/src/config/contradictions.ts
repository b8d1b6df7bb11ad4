import { ConfigError } from '@lade/node/settings'
import type { ReadSettings } from './read-settings.ts'
import { parseRsaKey, parseTokenKey } from './token-key.ts'

/** Each setting with the other one that it says nothing without. */
const CHAIN_NEEDS = [
  ['chainRpc', 'usdc'],
  ['usdc', 'chainRpc'],
  ['usdcPerGib', 'chainRpc'],
  ['chainId', 'chainRpc'],
  ['marketplace', 'chainRpc'],
  ['marketplace', 'chainKey'],
  ['chainKey', 'marketplace'],
  ['dealUsdcPerGibDay', 'marketplace'],
  ['dealUsdcPerDay', 'marketplace'],
] as const

/**
 * Refuses settings that are each right and cannot hold together.
 *
 * @throws {ConfigError} for the first that it finds.
 */
export function refuseContradictions(settings: ReadSettings): void {
  const { values, givenAs } = settings
  refuseOtherKey(settings)
  refuseIncompleteCurio(settings)
  refuseMisplacedOffload(settings)
  for (const key of ['smtpUrl', 'mailFrom'] as const) {
    if (values.signup !== 'email' || values[key] !== undefined) continue
    throw new ConfigError(`${givenAs('signup')} is email, so ${givenAs(key)} must be set to send login codes.`)
  }
  refuseHalfAChain(settings)
  for (const key of ['sponsoredFileDays', 'tokenFileDays'] as const) {
    if (values[key] > values.termMaxDays) {
      throw new ConfigError(
        `${givenAs(key)} is ${values[key]}, but the maximum is ${givenAs('termMaxDays')}, which is ${values.termMaxDays}.`,
      )
    }
  }
  refuseMissingProvers(settings)
  refuseServiceAtSite(settings)
  if (values.contentUrl === undefined) return
  const host = values.host.includes(':') ? `[${values.host}]` : values.host
  const publicUrl = values.publicUrl ?? `http://${host}:${values.port}`
  if (new URL(values.contentUrl).origin === new URL(publicUrl).origin) {
    throw new ConfigError(
      `${givenAs('contentUrl')} is "${values.contentUrl}", but its origin must differ from the origin of the public URL, because uploaded pages can run scripts on the content URL.`,
    )
  }
}

/** What is at a site's host is the site's. */
function refuseServiceAtSite({ values, givenAs }: ReadSettings): void {
  if (values.sitesUrl === undefined) return
  const { hostname: domain } = new URL(values.sitesUrl.replace('*.ipfs.', ''))
  for (const key of ['publicUrl', 'contentUrl'] as const) {
    const url = values[key]
    if (url === undefined) continue
    const { hostname } = new URL(url)
    if (!hostname.endsWith(`.ipfs.${domain}`) && !hostname.endsWith(`.ipns.${domain}`)) continue
    throw new ConfigError(
      `${givenAs(key)} is "${url}", but ${givenAs('sitesUrl')} gives that host to a site. Use another host name.`,
    )
  }
}

/** Each copy of a file is at a prover of its own. */
function refuseMissingProvers({ values, givenAs }: ReadSettings): void {
  const count = values.provers.length
  if (values.redundancy <= count) return
  throw new ConfigError(
    `${givenAs('redundancy')} is ${values.redundancy}, but ${givenAs('provers')} names only ${count === 1 ? '1 prover' : `${count} provers`}. Add provers or lower ${givenAs('redundancy')}.`,
  )
}

/** A chain without the token that counts there means nothing, nor does anything said about a chain that is not there. */
function refuseHalfAChain({ values, givenAs }: ReadSettings): void {
  for (const [key, needed] of CHAIN_NEEDS) {
    if (values[key] === undefined || values[needed] !== undefined) continue
    throw new ConfigError(`${givenAs(key)} is set, so ${givenAs(needed)} must be set as well.`)
  }
}

/** Who sends the bytes in place of this service has to be where they are. */
function refuseMisplacedOffload({ values, givenAs }: ReadSettings): void {
  const medium = values.storage?.kind ?? 'file'
  if (values.s3RedirectSeconds > 0 && medium !== 's3') {
    throw new ConfigError(
      `${givenAs('s3RedirectSeconds')} is ${values.s3RedirectSeconds}, but ${givenAs('storage')} is not an S3 storage.`,
    )
  }
  if (values.accel === undefined) return
  if (medium !== 'file') {
    throw new ConfigError(
      `${givenAs('accel')} is set, but ${givenAs('storage')} is not a directory that a proxy can read.`,
    )
  }
  if (values.trustedProxies.length === 0) {
    throw new ConfigError(
      `${givenAs('accel')} is set, so ${givenAs('trustedProxies')} must name the proxy that sends the files.`,
    )
  }
}

/** Curio is paid by somebody, and fetches pieces from where the whole internet can. */
function refuseIncompleteCurio({ values, givenAs }: ReadSettings): void {
  const isCurio = values.provers.some(({ kind }) => kind === 'curio' || kind === 'curio-pull')
  if (isCurio && values.curioKey === undefined) {
    throw new ConfigError(
      `${givenAs('provers')} names a Curio prover, so ${givenAs('curioKey')} must be set to pay it.`,
    )
  }
  if (!isCurio && values.curioKey !== undefined) {
    throw new ConfigError(`${givenAs('curioKey')} is set, but ${givenAs('provers')} names no Curio prover.`)
  }
  if (!isCurio && values.ipfsCopies > 0) {
    throw new ConfigError(`${givenAs('ipfsCopies')} is set, but ${givenAs('provers')} names no Curio prover.`)
  }
  const isPulling = values.provers.some(({ kind }) => kind === 'curio-pull')
  if (isPulling && !values.publicUrl?.startsWith('https:')) {
    throw new ConfigError(
      `${givenAs('provers')} names a prover that pulls pieces, so ${givenAs('publicUrl')} must be an https URL that it can reach.`,
    )
  }
}

/** A key of one algorithm is none of the other, and a public key taken for a secret would let everybody sign. */
function refuseOtherKey({ values, givenAs }: ReadSettings): void {
  if (values.tokenKey === undefined) return
  const text = values.tokenKey.reveal()
  if (values.tokenAlg === 'HS256' && parseTokenKey(text) === undefined) {
    throw new ConfigError(
      `${givenAs('tokenKey')} is an RSA key, but ${givenAs('tokenAlg')} is HS256, which needs a secret of at least 32 bytes.`,
    )
  }
  if (values.tokenAlg === 'RS256' && parseRsaKey(text) === undefined) {
    throw new ConfigError(
      `${givenAs('tokenAlg')} is RS256, but ${givenAs('tokenKey')} is not an RSA private key of 2048 to 8192 bits as PEM or JWK.`,
    )
  }
}
