/**
 * Reads the command line of this process. What is wrong with it is printed, and the process ends with 2 then.
 *
 * @param parse - throws a TypeError with one sentence about the first wrong argument.
 */
export function readOptions<Options>(parse: (args: readonly string[]) => Options): Options | undefined {
  try {
    return parse(process.argv.slice(2))
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    console.error(error.message)
    process.exitCode = 2
    return undefined
  }
}
