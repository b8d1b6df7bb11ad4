import { tokenKeyMaterial } from '@lade/server/config'
import { ROTATION_DAYS, SigningKey } from '@lade/server/keys'
import type { Command } from 'commander'
import { Ended, EXIT } from '../exit-code.ts'
import { type FoundKey, type KeyPlace, withKeyPlace } from '../key-source.ts'
import { addSettingOptions, configOf } from '../setting-options.ts'
import type { Terminal } from '../terminal.ts'

const SETTING_KEYS = ['dataDir', 'database', 'tokenKey', 'tokenAlg'] as const

/** `lade keys show`: where the signing key is and how old, never the key. Creates nothing. */
export function addKeysShow(keys: Command, terminal: Terminal): void {
  const command = keys
    .command('show')
    .summary('Show the location and age of the signing key.')
    .description(
      'Show where the signing key is, how old it is and whether rotation is due. Never prints the key itself.',
    )
    .option('--json', 'Print one JSON object.')
    .action(() => showKey(command, terminal))
  addSettingOptions(command, SETTING_KEYS)
}

interface ShownKey extends FoundKey {
  readonly source: 'LADE_TOKEN_KEY' | KeyPlace['kind']
  readonly place: string
}

async function showKey(command: Command, terminal: Terminal): Promise<void> {
  const config = configOf(command, SETTING_KEYS, terminal)
  if (config.tokenKey !== undefined) {
    const key = await SigningKey.fromMaterial(tokenKeyMaterial(config.tokenAlg, config.tokenKey))
    return show({ source: 'LADE_TOKEN_KEY', place: 'LADE_TOKEN_KEY', key, warnings: [] })
  }
  await withKeyPlace(config, async ({ kind, name, read }) => {
    const found = await read()
    if (found === undefined) {
      throw new Ended(EXIT.failed, `There is no key in ${name} yet. "lade serve" creates it.`)
    }
    show({ source: kind, place: name, ...found })
  })

  function show(found: ShownKey): void {
    const { key, source, place, warnings } = found
    const now = terminal.now()
    const ageDays = key.ageDays(now) ?? null
    const isOverdue = key.isOverdue(now)
    const accepted = key.previous
      .filter(({ acceptedUntilSeconds }) => now.getTime() < acceptedUntilSeconds * 1000)
      .map((one) => ({ id: one.key.id, until: new Date(one.acceptedUntilSeconds * 1000).toISOString() }))
    for (const warning of warnings) terminal.note(`Warning: ${warning}`)
    if (command.opts().json) {
      const issuedAt = key.issuedAtSeconds === undefined ? null : new Date(key.issuedAtSeconds * 1000).toISOString()
      const { alg, id } = key
      const file = source === 'file' ? place : null
      const previous = accepted.map(({ id: previousId, until }) => ({ id: previousId, acceptedUntil: until }))
      terminal.print(JSON.stringify({ source, file, alg, id, issuedAt, ageDays, overdue: isOverdue, previous }))
      return
    }
    terminal.print(`The signing key ${key.id} is in ${place}.`)
    if (ageDays === null) terminal.print('Its age is unknown.')
    else if (isOverdue)
      terminal.print(`It is ${days(ageDays)} old. Rotation is overdue: rotate every ${days(ROTATION_DAYS)}.`)
    else terminal.print(`It is ${days(ageDays)} old. Rotation is not due yet (every ${days(ROTATION_DAYS)}).`)
    for (const { id, until } of accepted)
      terminal.print(`Tokens of the previous key ${id} are accepted until ${until}.`)
  }
}

function days(count: number): string {
  return count === 1 ? '1 day' : `${count} days`
}
