import type { LadeClient } from '@lade/client'

let loading: Promise<typeof import('@lade/client')> | undefined

/** Loaded with its first use, so that the first page is there sooner. */
function load(): Promise<typeof import('@lade/client')> {
  loading ??= import('@lade/client').catch((error: unknown) => {
    loading = undefined
    throw error
  })
  return loading
}

/** The client of this service. @param hasSession - true where somebody has signed in, whose cookie the browser sends. */
export async function openClient(hasSession: boolean): Promise<LadeClient> {
  const { createLadeClient } = await load()
  return createLadeClient({ url: location.origin, session: hasSession })
}

/** What reads the folders that are dropped on a page. */
export async function itemReader(): Promise<typeof import('@lade/client').droppedItems> {
  return (await load()).droppedItems
}

/** What makes the secret by which an upload without an account is claimed later. */
export async function secretMaker(): Promise<() => string> {
  return (await load()).newClaimSecret
}
