import { parseContentId } from '@lade/core/content'
import type { ChallengeResult } from '@lade/core/wire'
import { bytesToHex } from '@noble/hashes/utils.js'
import type { GetContext } from '../get/get.ts'
import { refuseUnknownOptions } from '../known-options.ts'
import type { ChallengeOptions, CheckedChallenge } from '../options.ts'

const NONCE_BYTES = 16
const MAX_NONCE_LENGTH = 128

/** See `LadeClient.challenge`. */
export async function challenge(
  { http, platform: { sha256 } }: GetContext,
  cid: string,
  options: ChallengeOptions = {},
): Promise<CheckedChallenge> {
  refuseUnknownOptions('challenge', options, { nonce: true, signal: true })
  const { nonce = randomNonce(), signal } = options
  if (typeof nonce !== 'string' || nonce.length < 1 || nonce.length > MAX_NONCE_LENGTH) {
    throw new TypeError(`nonce must have 1 to ${MAX_NONCE_LENGTH} characters`)
  }
  const id = parseContentId(cid, (bytes) => bytesToHex(sha256.of(bytes)))
  const answer = await http.json<ChallengeResult>({
    method: 'POST',
    path: `/p/${cid}/challenge`,
    json: { nonce },
    isOpen: true,
    // Whoever is asked by the same nonce again has had the time in between to fetch what it chooses.
    mayRepeat: false,
    signal,
  })
  const { checkPossession } = await import('./check-possession.ts')
  return { answer, ...checkPossession(answer, { id, nonce, sha256 }) }
}

function randomNonce(): string {
  return bytesToHex(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)))
}
