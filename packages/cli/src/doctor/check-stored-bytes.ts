import { LadeError } from '@lade/core/errors'
import { StartError } from '@lade/node/settings'
import type { Config } from '@lade/server/config'
import type { StoredBytesLook } from '@lade/server/stored-bytes'
import { causesOf } from '../causes.ts'
import { countOf, formatBytes } from '../output/amounts.ts'
import { broken, type Finding, ok, unknown } from './finding.ts'

/** How long small files in the records are compared with their digests. */
const CHECK_MS = 10_000

/** Whether stored bytes are damaged, as far as that is known, or can be seen within seconds. */
export async function checkStoredBytes(config: Config): Promise<Finding[]> {
  const { lookAtStoredBytes } = await import('@lade/server/stored-bytes')
  try {
    const look = await lookAtStoredBytes(config, { withinMs: CHECK_MS })
    return look === undefined ? [] : findingsOf(look)
  } catch (error) {
    if (!(error instanceof StartError || LadeError.is(error))) throw error
    return [unknown('storedBytes', `Cannot check the stored bytes: ${causesOf(error)}.`)]
  }
}

export function findingsOf(look: StoredBytesLook): Finding[] {
  const { damaged, damagedCount, checkedBytes, isComplete, withoutChunksCount } = look
  const checked = isComplete ? 'all small files' : `${formatBytes(checkedBytes)} of small files (time limit reached)`
  const names = damaged.map(({ object, kind }) => `${object} (${kind})`).join(', ')
  const more = damagedCount > damaged.length ? ` and ${damagedCount - damaged.length} more` : ''
  // A backup repairs blobs; small files are in the records, which it only reads.
  const canHeal = damagedCount > damaged.length || damaged.some(({ kind }) => kind !== 'inline')
  const healing = canHeal
    ? ' Or repair them from a backup with "lade backup DIR --heal", except small files in the database (inline).'
    : ''
  return [
    damagedCount === 0
      ? ok('storedBytes', `No damaged files are known. In the database, ${checked} match their digests.`)
      : broken(
          'storedBytes',
          `${countOf(damagedCount, 'file')} ${damagedCount === 1 ? 'is' : 'are'} damaged: ${names}${more}. Upload the files again.${healing}`,
        ),
    ...(withoutChunksCount === 0
      ? []
      : [
          unknown(
            'chunkDigests',
            `${countOf(withoutChunksCount, 'file')} from an older version ${withoutChunksCount === 1 ? 'has' : 'have'} no chunk digests until the next scrub.`,
          ),
        ]),
  ]
}
