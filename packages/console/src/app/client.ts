import type { LadeClient } from '@lade/client'

let loading: Promise<typeof import('@lade/client')> | undefined

/**
 * The client of this service, loaded with its first use, so that the first page is there sooner.
 *
 * @param hasSession - true where somebody has signed in, whose cookie the browser sends.
 */
export async function openClient(hasSession: boolean): Promise<LadeClient> {
  loading ??= import('@lade/client').catch((error: unknown) => {
    loading = undefined
    throw error
  })
  const { createLadeClient } = await loading
  return createLadeClient({ url: location.origin, session: hasSession })
}
