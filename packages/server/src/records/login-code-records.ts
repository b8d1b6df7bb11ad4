import type { SessionOpening } from './session-records.ts'
import type { TokenRecord } from './token-records.ts'

/** A code that was sent to an email address and waits for its answer. */
export interface LoginCodeRecord {
  /** Not what the caller holds, which the records never see, but a digest of it. */
  readonly id: string
  readonly email: string
  /** The name that the token will have. */
  readonly label: string
  readonly codeDigest: string
  /** Who asked for it, such as `ip:192.0.2.7`: the only one who may name the email address in place of the code's id. */
  readonly askedBy: string
  /** Compared where the email address is named. */
  readonly emailCodeDigest: string
  readonly attemptsLeft: number
  readonly expiresAt: number
}

/** What an hour's count is kept under, such as `ip:192.0.2.7` or `mail:ada@example.org`, and how high it may get. */
export interface HourlyLimit {
  readonly address: string
  readonly limit: number
  /** While this other count is below its limit, this one does not hold. @default it always holds */
  readonly unlessBelow?: { readonly address: string; readonly limit: number }
}

/** `limited` says which of the limits was reached; nothing was counted then, under none of them. */
export type OpenOutcome =
  | { readonly outcome: 'opened' }
  | { readonly outcome: 'limited'; readonly address: string; readonly used: number; readonly limit: number }

/** What the right answer to a code gives: a token, or a session without one. */
export type CodeReward = { readonly token: TokenRecord } | { readonly session: SessionOpening }

/** `over` is a code that was never there, is past its time, or was answered, rightly or wrongly too often. */
export type AnswerOutcome =
  | { readonly outcome: 'issued' }
  | { readonly outcome: 'wrong'; readonly attemptsLeft: number }
  | { readonly outcome: 'over' }

/** Codes that wait, by whom they were mailed to and who asked for them. */
export interface CodesOfEmail {
  readonly email: string
  readonly askedBy: string
  readonly now: number
}

/** Login codes of signup by email. Each is answered rightly once, whichever process is asked. */
export interface LoginCodeRecords {
  /** Counts under every limit, with signups, and keeps the code; or neither when a limit is reached. */
  open(request: { code: LoginCodeRecord; hour: number; limits: readonly HourlyLimit[] }): Promise<OpenOutcome>
  /** Forgets a code that did not reach anybody, and gives back what was counted in `hour` for `addresses`. */
  withdraw(request: { id: string; hour: number; addresses: readonly string[] }): Promise<void>
  /** Whose token an answer to this code would make; undefined for one that is over. */
  find(request: { id: string; now: number }): Promise<{ readonly email: string; readonly label: string } | undefined>
  /** Compares in constant time. The right answer ends the code and records the reward, a wrong one takes an attempt. */
  answer(request: { id: string; codeDigest: string; now: number; reward: CodeReward }): Promise<AnswerOutcome>
  /** True while a code of this address waits that `askedBy` asked for. */
  isAwaited(request: CodesOfEmail): Promise<boolean>
  /**
   * As `answer`, for whichever of the codes of this address that `askedBy` asked for. A token gets the label of its code. A wrong answer
   * takes an attempt from each of them, and tells the most that one has left.
   */
  answerByEmail(request: CodesOfEmail & { codeDigest: string; reward: CodeReward }): Promise<AnswerOutcome>
  /** Forgets login codes past their time; answers how many. */
  expire(request: { now: number }): Promise<number>
}
