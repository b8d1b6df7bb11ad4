/** The node answers, and is not the one that the configuration means, or a contract on it is not. */
export class WrongNode extends Error {
  override readonly name = 'WrongNode'
}
