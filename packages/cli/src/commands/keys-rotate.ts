import { DEFAULT_TOKEN_DAYS } from '@lade/core/wire'
import { ConfigError } from '@lade/node/settings'
import type { Command } from 'commander'
import { Ended, EXIT } from '../exit-code.ts'
import { withKeyPlace } from '../key-source.ts'
import { wholeNumberIn } from '../number-option.ts'
import { addSettingOptions, configOf } from '../setting-options.ts'
import type { Terminal } from '../terminal.ts'

/** A token of a signup lasts no longer. */
const MAXIMUM_OVERLAP_DAYS = DEFAULT_TOKEN_DAYS

const SETTING_KEYS = ['dataDir', 'database', 'tokenKey', 'tokenAlg'] as const

/** `lade keys rotate`: replaces the signing key in the data directory or the database, without asking. */
export function addKeysRotate(keys: Command, terminal: Terminal): void {
  const command = keys
    .command('rotate')
    .summary('Replace the signing key.')
    .description(
      'Replace the signing key in the data directory or the database. Within 2 seconds, running servers refuse all old tokens and share links, unless --overlap keeps them valid. If LADE_TOKEN_KEY is set, change it and restart every server instead.',
    )
    .option(
      '--overlap <days>',
      'Keep accepting tokens and share links of the old key for this many days. Do not use --overlap if others may know the old key.',
      wholeNumberIn(1, MAXIMUM_OVERLAP_DAYS),
    )
    .action(() => rotateKey(command, terminal))
  addSettingOptions(command, SETTING_KEYS, {
    tokenKey:
      'The key that the service has now, not the new one. If it is set, this command replaces nothing, because it cannot change LADE_TOKEN_KEY.',
  })
}

async function rotateKey(command: Command, terminal: Terminal): Promise<void> {
  const config = configOf(command, SETTING_KEYS, terminal)
  const { overlap } = command.opts<{ overlap?: number }>()
  if (config.tokenKey !== undefined) {
    throw new ConfigError(
      'The signing key comes from LADE_TOKEN_KEY. To rotate the key, change LADE_TOKEN_KEY and restart every server.',
    )
  }
  await withKeyPlace(config, async ({ name, read, rotate }) => {
    // A mistyped directory must not end in a key that no server uses.
    if ((await read()) === undefined) {
      terminal.note(`Nothing to rotate: there is no key in ${name}.`)
      throw new Ended(EXIT.failed)
    }
    const { key } = await rotate(terminal.now(), overlap)
    terminal.print(`The signing key in ${name} is now ${key.id}.`)
    const [last] = key.previous
    if (last === undefined) {
      terminal.print(
        'All existing tokens and share links are invalid. Running servers switch within 2 seconds. Users need new tokens.',
      )
      return
    }
    const until = new Date(last.acceptedUntilSeconds * 1000).toISOString()
    terminal.print(
      `Tokens and share links of the old key ${last.key.id} stay valid until ${until}. Running servers switch within 2 seconds. Users need new tokens by then.`,
    )
  })
}
