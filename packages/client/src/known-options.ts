/** The names of all options of a call, so that a new option does not compile until it is known here. */
export type OptionNames<Options> = { readonly [Name in keyof Required<Options>]: true }

/**
 * Refuses options that a call does not have: what they were meant to do would not be done, and nobody would be told.
 *
 * @param call - what the caller wrote, such as `put`.
 * @throws {TypeError} that names the option, or says that the call takes an object of them.
 *
 * @example
 * refuseUnknownOptions('put', { private: true }, PUT_OPTIONS) // TypeError: put has no option "private". It has: cid, …
 */
export function refuseUnknownOptions<Options extends object>(
  call: string,
  options: Options,
  known: OptionNames<Options>,
): void {
  if (typeof options !== 'object' || options === null || options instanceof URL) {
    throw new TypeError(`${call} takes its options as an object, with ${Object.keys(known).join(', ')}`)
  }
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(known, name))
  if (unknown === undefined) return
  throw new TypeError(`${call} has no option "${unknown}". It has: ${Object.keys(known).join(', ')}.`)
}
