import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { info } from '../app/service-info.ts'
import { texts } from '../texts/texts.ts'
import { Icon } from './icon.tsx'

/** Opens a folder as a site at a host of its own. Nothing where this service has no hosts for sites, or none for this root. */
export function SiteLink({ cid }: { readonly cid: string }) {
  const url = useSignal<string | undefined>(undefined)
  const sitesUrl = info.value?.sitesUrl
  useEffect(() => {
    url.value = undefined
    if (sitesUrl == null) return
    let isLeft = false
    import('../app/site-url.ts').then(
      ({ siteUrl }) => {
        if (!isLeft) url.value = siteUrl(sitesUrl, cid)
      },
      // The link to the folder itself is there.
      () => {},
    )
    return () => {
      isLeft = true
    }
  }, [cid, sitesUrl])
  if (url.value === undefined) return null
  return (
    <a class="button button-plain" href={url.value} target="_blank" rel="noopener">
      <Icon name="site" />
      <span>{texts.value.drop.openSite}</span>
    </a>
  )
}
