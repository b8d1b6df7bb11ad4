/**
 * A setting that stops the start. Its message is one sentence for the operator, complete on its own: which setting,
 * what it holds (never a secret), and what is accepted.
 *
 * @example
 * new ConfigError('LADE_PORT is "80a", but it must be a whole number from 0 to 65535.').message
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** Settings that are right and lead to something that cannot be used, such as a database that does not answer. The message is one sentence. */
export class StartError extends Error {
  override readonly name = 'StartError'
}
