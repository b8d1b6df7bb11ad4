/** A move that would do harm, and was not begun. Its message is what to do, in sentences that hold no secret. */
export class MoveRefused extends Error {
  override readonly name = 'MoveRefused'
}
