import { DagReadError } from '@lade/core/dag'
import { LadeError } from '@lade/core/errors'

/** What a client of the gateway is told of a DAG that cannot be read: `not_found` or `not_acceptable`. Other errors are given back. */
export function readRefusal(error: unknown): unknown {
  if (!(error instanceof DagReadError)) return error
  if (error.fault === 'missing') return new LadeError('not_found', { reason: error.message }, { cause: error })
  const reason = `${error.message} Use format=raw to get this block.`
  return new LadeError('not_acceptable', { reason }, { cause: error })
}
