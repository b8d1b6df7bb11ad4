import type { LadeClient } from '@lade/client'
import { LadeError } from '@lade/core/errors'
import type { SignupResult, VerifyRequest } from '@lade/core/wire'
import { Ended, EXIT, sentenceOf } from '../exit-code.ts'
import { printable } from '../output/printable.ts'
import { formatSeconds } from '../output/times.ts'
import { ask, canAsk, readAll } from '../prompt.ts'
import type { Terminal } from '../terminal.ts'
import { LocalError, UsageError } from '../usage-error.ts'

interface SignIn {
  readonly client: LadeClient
  readonly terminal: Terminal
  /** What is asked of the token. */
  readonly wishes: Omit<VerifyRequest, 'challenge' | 'code'>
}

export interface StartOptions extends SignIn {
  readonly email: string
  readonly label: string
  readonly isJson: boolean
}

/**
 * Has a code mailed, says where it went, and asks for it.
 *
 * @throws {Ended} where nobody can be asked, with how to go on on standard error, and with `isJson` on standard output, too.
 */
export async function startByMail({ email, label, isJson, ...signIn }: StartOptions): Promise<SignupResult> {
  const { client, terminal } = signIn
  const { challenge, expiresIn } = await client.signIn.start({ email, label }, { signal: terminal.interruption() })
  const sentence = `A code was mailed to ${email.trim()}. It is valid for ${formatSeconds(expiresIn)}.`
  terminal.note(printable(sentence))
  if (canAsk(terminal)) return askForCode(signIn, challenge)
  const onward = `Run the same command again with --challenge ${challenge} and pipe in the code.`
  terminal.note(printable(onward))
  const problem = { error: 'email_code_required', detail: `${sentence} ${onward}`, challenge, expiresIn }
  if (isJson) terminal.print(JSON.stringify(problem))
  throw new Ended(EXIT.refused)
}

export interface RedeemOptions extends SignIn {
  readonly challenge: string
  /** Absent: asked for, or read from standard input. */
  readonly code: string | undefined
}

/** Gives the code of a mail that was sent before. */
export async function redeemCode({ challenge, code, ...signIn }: RedeemOptions): Promise<SignupResult> {
  const { terminal } = signIn
  if (code !== undefined) return verify(signIn, challenge, code)
  if (canAsk(terminal)) return askForCode(signIn, challenge)
  if (terminal.stdin.isTTY)
    throw new UsageError('Cannot ask for the code without a terminal. Pipe it in, or pass it with --code.')
  const piped = (await readAll(terminal)).trim()
  if (piped === '') throw new UsageError('Standard input contains no code.')
  return verify(signIn, challenge, piped)
}

/** Asks until the code is right, or no attempt is left. */
async function askForCode(signIn: SignIn, challenge: string): Promise<SignupResult> {
  const { terminal } = signIn
  for (;;) {
    const code = await ask(terminal, 'Code: ')
    if (code === '') {
      throw new LocalError(
        `No code was given. To use the mailed code, run the command again with --challenge ${printable(challenge)}.`,
      )
    }
    // A slip of the fingers is not to cost an attempt.
    if (!/^\d{6}$/.test(code.replaceAll(/[\s-]/g, ''))) {
      terminal.note('A code has six digits.')
      continue
    }
    try {
      return await verify(signIn, challenge, code)
    } catch (error) {
      if (!LadeError.has(error, 'invalid_code') || !(error.evidence.attemptsLeft > 0)) throw error
      terminal.note(sentenceOf(error))
    }
  }
}

function verify({ client, terminal, wishes }: SignIn, challenge: string, code: string): Promise<SignupResult> {
  return client.signIn.verify({ challenge, code, ...wishes }, { signal: terminal.interruption() })
}
