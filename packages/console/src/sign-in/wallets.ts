import type { Eip1193Provider } from '@lade/client'
import { signal } from '@preact/signals'

/** A wallet that has announced itself (EIP-6963). */
export interface FoundWallet {
  readonly id: string
  readonly name: string
  /** A data URL; undefined for a wallet without a picture. */
  readonly icon: string | undefined
  readonly provider: Eip1193Provider
}

interface Announcement {
  readonly info: { readonly uuid: string; readonly name: string; readonly icon?: string; readonly rdns?: string }
  readonly provider: Eip1193Provider
}

/** Those of this browser, in the order in which they have answered. */
export const wallets = signal<readonly FoundWallet[]>([])

/**
 * Asks the wallets of this browser to announce themselves. One that knows nothing of announcements, and stands at `window.ethereum` alone, is
 * found there.
 *
 * @returns what ends it.
 */
export function findWallets(): () => void {
  const take = (event: Event) => {
    const { info, provider } = (event as CustomEvent<Announcement>).detail ?? {}
    if (typeof info?.uuid !== 'string' || typeof provider?.request !== 'function') return
    if (wallets.value.some(({ id }) => id === info.uuid)) return
    // Whatever an extension names as its picture is loaded from nowhere.
    const icon = info.icon?.startsWith('data:image/') ? info.icon : undefined
    const found = { id: info.uuid, name: String(info.name), icon, provider }
    wallets.value = [...wallets.value.filter(({ id }) => id !== INJECTED), found]
  }
  addEventListener('eip6963:announceProvider', take)
  dispatchEvent(new Event('eip6963:requestProvider'))
  const { ethereum } = globalThis as { ethereum?: Eip1193Provider }
  if (wallets.value.length === 0 && typeof ethereum?.request === 'function') {
    wallets.value = [{ id: INJECTED, name: 'Ethereum', icon: undefined, provider: ethereum }]
  }
  return () => removeEventListener('eip6963:announceProvider', take)
}

const INJECTED = 'window.ethereum'
