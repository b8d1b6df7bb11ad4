import { walletOf } from '@lade/client'
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { openClient } from '../app/client.ts'
import { signIn } from '../app/session.ts'
import { Notice } from '../parts/notice.tsx'
import { useStep } from '../parts/use-step.ts'
import { texts } from '../texts/texts.ts'
import { type FoundWallet, findWallets, wallets } from './wallets.ts'

/** The wallets of this browser: one is chosen, and signs the message of EIP-4361. */
export function WalletList() {
  const asked = useSignal<string | undefined>(undefined)
  const step = useStep()
  const { signIn: words } = texts.value
  useEffect(findWallets, [])
  const choose = (wallet: FoundWallet) =>
    step.run(async () => {
      asked.value = wallet.name
      try {
        const { message, signature } = await signedBy(wallet)
        await signIn({ message, signature })
      } finally {
        asked.value = undefined
      }
    })
  if (wallets.value.length === 0) {
    return (
      <div class="sign-in-form">
        <p>
          <strong>{words.noWallet}</strong>
        </p>
        <p class="soft">{words.noWalletHint}</p>
      </div>
    )
  }
  return (
    <div class="sign-in-form">
      <ul class="wallets" aria-label={words.wallets}>
        {wallets.value.map((wallet) => (
          <li key={wallet.id}>
            <button type="button" class="button button-plain wallet" onClick={() => choose(wallet)}>
              {wallet.icon !== undefined && <img src={wallet.icon} alt="" width="28" height="28" />}
              <span>{wallet.name}</span>
            </button>
          </li>
        ))}
      </ul>
      <p class="soft" role="status">
        {asked.value === undefined ? words.walletHint : words.walletAsked(asked.value)}
      </p>
      {step.problem.value !== undefined && (
        <Notice kind="bad">
          <p>{step.problem.value}</p>
        </Notice>
      )}
    </div>
  )
}

/** @throws {Error} what the service says; that the wallet did not sign, for whatever the wallet ends by. */
async function signedBy({ provider }: FoundWallet) {
  const client = await openClient(false)
  let walletFailed = false
  const noting = {
    async request(call: Parameters<typeof provider.request>[0]) {
      try {
        return await provider.request(call)
      } catch (error) {
        walletFailed = true
        throw error
      }
    },
  }
  try {
    return await client.signIn.sign(walletOf(noting))
  } catch (error) {
    if (walletFailed) throw new Error(texts.value.signIn.walletRefused, { cause: error })
    throw error
  }
}
