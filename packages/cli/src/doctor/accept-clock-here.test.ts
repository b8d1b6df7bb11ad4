import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { HOUR_MS } from '@lade/core/time'
import { startLade } from '@lade/server'
import { readConfig } from '@lade/server/config'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { run } from '../run.ts'
import { testTerminal } from '../testing-terminal.ts'

let dir = ''
let dataDir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'lade-clock-'))
  dataDir = join(dir, 'data')
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

/** Starts a service and ends it again. */
async function makeRecords(): Promise<void> {
  const env = { LADE_PORT: '0', LADE_DATA_DIR: dataDir, LADE_LOG_LEVEL: 'silent', LADE_MIN_FREE_MB: '0' }
  await (await startLade(readConfig({ env }))).close()
}
/** Leaves what a start after a stop leaves, when the machine has rebooted meanwhile. */
function leaveDoubt(): number {
  const endsAt = Date.now() - 10 * HOUR_MS
  const step = { offsetMs: 0, believedAt: Date.now() + HOUR_MS, endsAt, from: endsAt, fromSequence: 0 }
  const db = new DatabaseSync(join(dataDir, 'lade.db'))
  db.prepare('INSERT INTO marks (name, value) VALUES (?, ?)').run('clock-step', JSON.stringify(step))
  db.close()
  return endsAt
}
async function acceptClock(...flags: string[]) {
  const { terminal, stdout, stderr } = testTerminal({ cwd: dir, homeDir: dir, env: {} })
  const exitCode = await run(['doctor', '--accept-clock', '--data-dir', dataDir, ...flags], terminal)
  return { exitCode, stdout: stdout(), stderr: stderr() }
}

describe('lade doctor --accept-clock', () => {
  test('has the next start believe its clock, once somebody agreed', async () => {
    await makeRecords()
    expect(await acceptClock('--yes')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('already trusts the clock'),
    })
    const endsAt = leaveDoubt()
    const looked = await acceptClock()
    expect(looked).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('--yes') })
    expect(looked.stdout).toContain(`ended between ${new Date(endsAt).toISOString()} and now.`)
    expect(await acceptClock('--yes')).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('is accepted') })
    expect(await acceptClock('--yes')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('already trusts the clock'),
    })
  })

  test('error: goes by itself, and prints no JSON', async () => {
    expect(await acceptClock('--adopt')).toMatchObject({ exitCode: 2 })
    expect(await acceptClock('--json')).toMatchObject({ exitCode: 2 })
  })
})
