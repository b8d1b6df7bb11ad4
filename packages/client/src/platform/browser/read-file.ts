import type { ReadFile } from '../../hashing/slice.ts'

/** No slice of a browser lies in an open file. */
export const readFile: ReadFile = async () => {
  throw new TypeError('there are no open files in a browser')
}
