import type { ServerResponse } from 'node:http'
import type { BodyTurns, TurnsOfBodies } from '@lade/node/budget/body-turns'
import { closedSignal } from '../../closed-signal.ts'

/** The turn of a request whose body is read, and what it asks for is done, while it is its turn. */
export interface BodyTurn {
  /** Aborted when the caller has gone. */
  readonly signal: AbortSignal
  readonly turn: BodyTurns
}

/** Waits for the first turn of a request, in which its body arrives. The turns end with the answer. */
export async function openBodyTurn(
  turns: TurnsOfBodies,
  principal: string,
  response: ServerResponse,
): Promise<BodyTurn> {
  const signal = closedSignal(response)
  const turn = turns.open(principal, signal)
  response.once('close', () => turn.end())
  await turn.take()
  turn.rest()
  return { signal, turn }
}
