import { LadeError } from '@lade/core/errors'
import { StartError } from '@lade/node/settings'
import type { Config } from '@lade/server/config'
import { causesOf } from '../causes.ts'
import { broken, type Finding, ok, unknown } from './finding.ts'

/** Whether the records and the objects belong together, as the next start would find them. */
export async function checkInstallation(config: Config): Promise<Finding> {
  const { lookAtInstallation } = await import('@lade/server/adopting')
  try {
    const look = await lookAtInstallation(config)
    switch (look.state) {
      case 'joined':
        return ok(
          'installation',
          `The database and the file storage belong together (installation ${look.id.slice(0, 8)}).`,
        )
      case 'new':
        return ok(
          'installation',
          'The database and the file storage belong together. The next start gives both the same id.',
        )
      case 'unknown':
        return unknown(
          'installation',
          `Cannot tell whether the database and the file storage belong together. ${look.sentence}`,
        )
      case 'refused':
        return broken(
          'installation',
          `${look.sentence} The service will not start until this is resolved. "lade doctor --adopt" explains how to continue.`,
        )
    }
  } catch (error) {
    if (!(error instanceof StartError || LadeError.is(error))) throw error
    return unknown(
      'installation',
      `Cannot check whether the database and the file storage belong together: ${causesOf(error)}.`,
    )
  }
}
