import type { Logger } from 'pino'
import type { Config } from '../config/config.ts'

interface Surroundings {
  readonly publicUrl: string
  readonly log: Pick<Logger, 'warn'>
}

/** Warns where pages of anybody are on the same site as the service. */
export async function warnOfSameSite(config: Config, { publicUrl, log }: Surroundings): Promise<void> {
  const { contentUrl, sitesUrl } = config
  if (contentUrl === undefined && sitesUrl === undefined) return
  // Loaded when it is needed: the list of public suffixes takes memory.
  const { isSameSite } = await import('../http/same-site.ts')
  if (contentUrl !== undefined && isSameSite(contentUrl, publicUrl)) {
    log.warn(
      { publicUrl, contentUrl },
      'uploaded pages are on the same site as this service: set LADE_CONTENT_URL to another registrable domain',
    )
  }
  if (sitesUrl !== undefined && isSameSite(sitesUrl.replace('*', 'site'), publicUrl)) {
    log.warn(
      { publicUrl, sitesUrl },
      'sites are on the same site as this service: set LADE_SITES_URL to another registrable domain, or list it as a public suffix',
    )
  }
}
