import type { Page } from './chromium.ts'
import { until } from './until.ts'

const LOAD_MS = 60_000

/** The uploads that a page has begun to send, by what the browser says of its requests. */
export interface SentUploads {
  /** The content ids, in the order in which they were sent. */
  ids(): readonly string[]
  forget(): void
}

export async function watchUploads(page: Page): Promise<SentUploads> {
  let ids: string[] = []
  page.onEvent((method, { request }) => {
    if (method !== 'Network.requestWillBeSent') return
    const { url } = request as { url: string }
    const cid = /\/api\/upload\?cid=([^&]+)/.exec(url)?.[1]
    if (cid !== undefined) ids.push(decodeURIComponent(cid))
  })
  await page.command('Network.enable')
  return {
    ids: () => ids,
    forget: () => {
      ids = []
    },
  }
}

/** Resolves once the page is loaded that `go` leads to. */
export async function untilLoaded(page: Page, go: () => Promise<unknown>): Promise<void> {
  let isLoaded = false
  page.onEvent((method) => {
    if (method === 'Page.loadEventFired') isLoaded = true
  })
  await go()
  await until('the page is loaded', LOAD_MS, () => isLoaded)
}
