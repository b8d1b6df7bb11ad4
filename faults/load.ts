import { Agent } from 'node:http'
import { type Caller, sponsoredCaller, tokenCaller } from './caller.ts'
import { type Content, newContent } from './content.ts'
import type { Ledger } from './ledger.ts'
import type { SeededRandom } from './seeded-random.ts'

const KB = 1024

/** Quotas that no load reaches. */
export const BOUNDLESS_QUOTAS = {
  LADE_TOKEN_DAILY_MB: '1000000',
  LADE_TOKEN_DAILY_FILES: '1000000000',
  LADE_SPONSORED_DAILY_MB: '1000000',
  LADE_SPONSORED_DAILY_FILES: '1000000000',
}

/** Uploads that go on until they are told to stop. */
export interface Load {
  /** Starts no further upload and resolves when those under way have ended, one way or the other. */
  stop(): Promise<void>
}

/** Eight who upload: six with tokens, one at an IPv4 and one at an IPv6 address. */
export async function eightCallers(origin: URL): Promise<readonly Caller[]> {
  const users = await Promise.all(Array.from({ length: 6 }, () => tokenCaller(origin)))
  const network = sponsoredCaller('2001:db8:0:7::1')
  return [...users, sponsoredCaller('192.0.2.7'), { ...network, principal: 'ip:2001:db8:0:7::/64' }]
}

/**
 * Every caller uploads one content after the other, 1 KiB to 8 MiB, so that both kinds of storage are met. Now and then
 * it uploads what somebody else has uploaded, or removes something of its own.
 */
export function startLoad(
  origin: URL,
  options: { readonly callers: readonly Caller[]; readonly ledger: Ledger; readonly random: SeededRandom },
): Load {
  const { callers, ledger, random } = options
  const agent = new Agent({ keepAlive: true })
  let isStopped = false

  async function uploadAgainAndAgain(caller: Caller): Promise<void> {
    while (!isStopped) {
      const own = ledger.acks.filter((staging) => staging.caller === caller && staging.removal === undefined)
      if (caller.principal.startsWith('user:') && own.length > 0 && random.next() < 0.05) {
        await ledger.remove(origin, random.pick(own))
        continue
      }
      const answer = await ledger.upload(origin, caller, nextContent(caller), agent)
      // Nothing answers any more: asking in a tight loop would only keep this process busy.
      if (answer === undefined) await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }

  function nextContent(caller: Caller): Content {
    const foreign = ledger.stagings.filter((staging) => staging.caller !== caller)
    if (foreign.length > 0 && random.next() < 0.05) {
      const { content } = random.pick(foreign)
      const isNew = !ledger.stagings.some((staging) => staging.caller === caller && staging.content === content)
      if (isNew) return content
    }
    // From 16 MiB on the bytes take another way to the disk.
    if (random.next() < 0.05) return newContent(random.between(16_384 * KB, 20_480 * KB))
    return newContent(random.betweenMagnitudes(1 * KB, 8192 * KB))
  }

  const under = callers.map((caller) => uploadAgainAndAgain(caller))
  return {
    async stop() {
      isStopped = true
      await Promise.all(under)
      agent.destroy()
    },
  }
}
