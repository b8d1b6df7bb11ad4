import { ConfigError } from '@lade/node/settings'
import type { Command } from 'commander'
import { Ended, EXIT } from '../exit-code.ts'
import { withKeyPlace } from '../key-source.ts'
import { addSettingOptions, configOf } from '../setting-options.ts'
import type { Terminal } from '../terminal.ts'

const SETTING_KEYS = ['dataDir', 'database', 'tokenKey', 'tokenAlg'] as const

/** `lade keys rotate`: replaces the signing key in the data directory or the database, without asking. */
export function addKeysRotate(keys: Command, terminal: Terminal): void {
  const command = keys
    .command('rotate')
    .summary('Replace the signing key.')
    .description(
      'Replace the signing key. All live tokens and share links become invalid; running servers follow within 2 seconds.',
    )
    .action(() => rotateKey(command, terminal))
  addSettingOptions(command, SETTING_KEYS)
}

async function rotateKey(command: Command, terminal: Terminal): Promise<void> {
  const config = configOf(command, SETTING_KEYS, terminal)
  if (config.tokenKey !== undefined) {
    throw new ConfigError(
      'The signing key comes from LADE_TOKEN_KEY, so it is rotated by changing that value and restarting every server.',
    )
  }
  await withKeyPlace(config, async ({ name, read, rotate }) => {
    // A mistyped directory must not end in a key that no server uses.
    if ((await read()) === undefined) {
      terminal.note(`There is no key in ${name}, so there is nothing to rotate.`)
      throw new Ended(EXIT.failed)
    }
    const { key } = await rotate(terminal.now())
    terminal.print(`The signing key in ${name} is now ${key.id}.`)
  })
  terminal.print(
    'Every token and share link made until now is invalid; users sign up again, and running servers follow within 2 seconds.',
  )
}
