/**
 * A path of the router as the documentation and the metrics write it; undefined for what is no path of this service.
 *
 * @example
 * routeTemplate('/api/files/:cid/share') // '/api/files/{cid}/share'
 * routeTemplate('/ipfs/:cid/*') // '/ipfs/{cid}/{path}'
 */
export function routeTemplate(url: string | undefined): string | undefined {
  return url?.startsWith('/') ? url.replace(/:(\w+)/g, '{$1}').replace(/\}\/\*$/, '}/{path}') : undefined
}
