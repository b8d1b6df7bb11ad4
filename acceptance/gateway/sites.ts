import type { Answer, Caller } from '../caller.ts'
import { OWN_ENV } from '../own-env.ts'

/** The domain of the sites of the suite's own server. */
export const DOMAIN = 'example.com'
/** Why tests of sites are skipped elsewhere. */
export const NO_SITES = 'the hosts of sites there are not known'

if (OWN_ENV.LADE_SITES_URL !== `http://*.ipfs.${DOMAIN}`) throw new TypeError('the sites of OWN_ENV are elsewhere')

/** Asks a site, whose name need not be in the DNS. */
export function askSite(
  caller: Caller,
  label: string,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<Answer> {
  return askHost(caller, `${label}.ipfs.${DOMAIN}`, path, headers, method)
}

export function askHost(
  caller: Caller,
  host: string,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<Answer> {
  return caller.request(method, path, { headers: { ...headers, Host: host } })
}
