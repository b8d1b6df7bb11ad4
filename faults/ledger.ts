import type { Agent } from 'node:http'
import { type Answer, type Caller, send, upload } from './caller.ts'
import type { Content } from './content.ts'

/** Of the hexadecimal ids, the quarter whose bytes are uploaded without their length. */
const CHUNKED_BELOW = '4'

/** True for content that a ledger uploads with its length. */
export function isDeclared({ cid }: Content): boolean {
  return cid >= CHUNKED_BELOW
}

/**
 * What the caller knows about one upload. `unknown` is an upload whose answer never came, or a 5xx that came while the
 * service was being broken: it may have happened or not.
 */
export interface Staging {
  readonly caller: Caller
  readonly content: Content
  outcome: 'ack' | 'refused' | 'unknown'
  /** The status of the last answer. */
  status?: number
  /** A removal that was asked for, and whether it was confirmed. */
  removal?: 'ack' | 'unknown'
}

/** What callers had been told at one moment. */
export interface Told {
  /** Makes every answer that came after that moment one that nobody got. */
  withdrawLater(): void
}

/**
 * Every upload of a test with what its caller was told: what the service is held to afterwards. It lives in the
 * process of the test, which every fault that it plants leaves alone.
 */
export class Ledger {
  readonly stagings: Staging[] = []

  get acks(): readonly Staging[] {
    return this.stagings.filter((staging) => staging.outcome === 'ack')
  }

  get unknowns(): readonly Staging[] {
    return this.stagings.filter((staging) => staging.outcome === 'unknown')
  }

  /** One sentence for each upload that was refused or got no answer. */
  get notAcked(): readonly string[] {
    return this.stagings
      .filter((staging) => staging.outcome !== 'ack')
      .map(({ caller, content, outcome, status }) => `${content.cid} of ${caller.principal}: ${outcome} (${status})`)
  }

  /** What callers have been told until now. */
  toldUntilNow(): Told {
    const acks = new Set(this.acks)
    const removals = new Set(this.stagings.filter((staging) => staging.removal === 'ack'))
    return {
      withdrawLater: () => {
        for (const staging of this.stagings) {
          if (staging.outcome === 'ack' && !acks.has(staging)) staging.outcome = 'unknown'
          if (staging.removal === 'ack' && !removals.has(staging)) staging.removal = 'unknown'
        }
      },
    }
  }

  /** Uploads `content` and notes what the caller was told. Answers `undefined` when no answer came. */
  async upload(origin: URL, caller: Caller, content: Content, agent?: Agent): Promise<Answer | undefined> {
    const staging: Staging = { caller, content, outcome: 'unknown' }
    this.stagings.push(staging)
    return this.again(origin, staging, agent)
  }

  /** Asks again for uploads whose fate is unknown; the same caller and bytes, as a client does that lost its connection. */
  async retryUnknowns(origin: URL): Promise<void> {
    for (const staging of this.unknowns) await this.again(origin, staging)
  }

  /** Removes an acknowledged upload. */
  async remove(origin: URL, staging: Staging): Promise<Answer | undefined> {
    staging.removal = 'unknown'
    const path = `/api/files/${staging.content.cid}`
    const answer = await orUndefined(send(origin, 'DELETE', path, { headers: staging.caller.headers }))
    if (answer !== undefined && answer.status < 300) staging.removal = 'ack'
    return answer
  }

  /** Uploads the content of `staging` once more, and notes what the caller was told. */
  async again(origin: URL, staging: Staging, agent?: Agent): Promise<Answer | undefined> {
    const { caller, content } = staging
    const door = isDeclared(content) ? 'declared' : 'chunked'
    const answer = await orUndefined(upload(origin, caller, content, { door, ...(agent !== undefined && { agent }) }))
    if (answer !== undefined) staging.status = answer.status
    if (answer?.status === 200) staging.outcome = 'ack'
    else if (answer !== undefined && answer.status < 500) staging.outcome = 'refused'
    return answer
  }
}

/** A connection that broke is what these tests are about, and leaves the caller without an answer. */
async function orUndefined(answer: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined
    throw error
  }
}
