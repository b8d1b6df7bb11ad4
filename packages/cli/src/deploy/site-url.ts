/**
 * Where a folder is a site on a host of its own; undefined where the service has none.
 *
 * @param sitesUrl - with `*` for the CID.
 *
 * @example
 * siteUrl('https://*.ipfs.example.org', 'bafy…') // 'https://bafy….ipfs.example.org/'
 */
export function siteUrl(sitesUrl: string | null | undefined, cid: string): string | undefined {
  if (!sitesUrl?.includes('*')) return undefined
  const url = sitesUrl.replace('*', cid)
  return URL.canParse(url) ? new URL('/', url).href : undefined
}
