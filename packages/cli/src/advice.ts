import type { ErrorCode, ErrorEvidence, LadeError } from '@lade/core/errors'
import { countOf } from './output/amounts.ts'

type Sentences = { readonly [Code in ErrorCode]?: (evidence: ErrorEvidence[Code]) => string | undefined }

/** What to say in place of the service's sentence, which speaks of requests. */
const INSTEAD: Sentences = {
  no_token: () => 'This needs a token. Get one with "lade login --email ADDRESS", or save one with "lade login".',
  insufficient_scope: ({ required, scopes }) => {
    if (scopes === undefined) return undefined
    const has = `This needs the scope ${required}; the token has ${scopes.length === 0 ? 'no scopes' : scopes.join(', ')}.`
    return required === 'admin'
      ? `${has} The operator creates a token with it: "lade keys mint --scopes admin".`
      : `${has} Create a token with the scope ${required}: "lade token new".`
  },
  email_code_required: () => 'Signup needs a login code. "lade login --email ADDRESS" requests one and asks for it.',
  invalid_challenge: () =>
    'The login attempt is unknown, finished or expired. Leave out --challenge to get a new code.',
  invalid_code: ({ attemptsLeft }) => {
    if (attemptsLeft === 0) {
      return 'The login code is wrong. No attempts are left. Run the command again to get a new code.'
    }
    if (!Number.isFinite(attemptsLeft)) return undefined
    return `The login code is wrong. ${countOf(attemptsLeft, 'attempt')} ${attemptsLeft === 1 ? 'is' : 'are'} left.`
  },
}

/** What the service's sentences name, and how it is called here. */
const NAMES: readonly (readonly [string, string])[] = [
  ['GET /api/files lists yours.', '"lade ls" lists yours.'],
  ['GET /api/deals lists yours.', '"lade deals" lists yours.'],
  ['GET /api/tokens lists yours.', '"lade token ls" lists yours.'],
  ['send your token with the scope get, or use a share link', 'use "lade login" or a share link'],
  ['`lade login` or POST /api/auth/signup', '"lade login"'],
  ['`lade login`', '"lade login"'],
  ['`lade hash FILE`', '"lade hash FILE"'],
  ['`lade keys mint`', '"lade keys mint"'],
  ['Upload it over several days', 'Upload it over several days with --over-days'],
]

const NO_SUCH_PATH = /^(?:No such endpoint: |There is no page )/

/** What to do next at a shell, on top of what the service says. */
const ADVICE: Sentences = {
  invalid_signature: () =>
    'Check --wallet, --chain-id and the clock of this machine. --url must be the public URL of the service. "lade doctor" checks all of these.',
  not_found: ({ reason }) => {
    if (reason === undefined) return 'Check the id: "lade ls" lists your files.'
    // Every path that this program asks for exists, unless the URL of the service has too much at its end.
    return NO_SUCH_PATH.test(reason)
      ? 'Check the URL of the service: leave out /api, /docs or /p at its end.'
      : undefined
  },
  too_many_uploads: () => 'Or lower --jobs.',
  read_only: () => 'Run "lade doctor" on the machine of the service to check its disk and database.',
  not_placed: ({ reason }) =>
    reason === undefined ? '"lade deals" shows the status.' : 'Use "lade edit CID --public".',
  unreachable: () => 'Start a service with "lade serve", choose another service with --url, or run "lade doctor".',
  unexpected_answer: () => 'Check the URL, or run "lade doctor".',
  cid_conflict: () => '"lade hash" prints the ids of a file.',
}

/** What happened, in the words of this program. */
export function inCommands<Code extends ErrorCode>(error: LadeError<Code>): string {
  const instead = INSTEAD[error.code]?.(error.evidence)
  return instead ?? NAMES.reduce((text, [name, here]) => text.replaceAll(name, here), error.message)
}

/** What to do about `error`, on top of what it says, if anything. */
export function adviceFor<Code extends ErrorCode>(error: LadeError<Code>): string | undefined {
  return ADVICE[error.code]?.(error.evidence)
}
