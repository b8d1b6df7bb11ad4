import { LadeError } from '@lade/core/errors'
import type { SigningKey } from './signing-key.ts'

/**
 * The key in force, which may be replaced while the service runs.
 *
 * Ask for {@link SigningKeys.current} on each use and keep no copy: after a rotation the old key signs nothing.
 */
export class SigningKeys {
  #current: SigningKey | undefined

  /** @param first - absent when no key could be opened; one may follow. */
  constructor(first?: SigningKey) {
    this.#current = first
  }

  /** @throws {LadeError} `auth_offline` while there is no key. */
  current(): SigningKey {
    if (this.#current === undefined) throw new LadeError('auth_offline', {})
    return this.#current
  }

  /** The key in force, or `undefined` while there is none. */
  find(): SigningKey | undefined {
    return this.#current
  }

  /** The id of the key in force, or `undefined` while there is none. */
  currentId(): string | undefined {
    return this.#current?.id
  }

  /** Puts `key` in force at once. */
  replace(key: SigningKey): void {
    this.#current = key
  }
}
