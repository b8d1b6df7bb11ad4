import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { run } from '../run.ts'
import { startTestService, type TestService } from '../testing-service.ts'
import { testTerminal } from '../testing-terminal.ts'

const CID = '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae'

describe('lade admin', () => {
  let service: TestService
  let homeDir = ''
  let token = ''
  beforeAll(async () => {
    service = await startTestService()
    homeDir = await mkdtemp(join(tmpdir(), 'lade-cli-home-'))
    const args = ['keys', 'mint', '--email', 'ops@example.org', '--scopes', 'admin', '--data-dir', service.dataDir]
    token = (await lade(args)).stdout.trim()
  })
  afterAll(async () => {
    await service.close()
    await rm(homeDir, { recursive: true, force: true })
  })

  async function lade(args: readonly string[]) {
    const env = { LADE_URL: service.url, LADE_TOKEN: token }
    const { terminal, stdout, stderr } = testTerminal({ homeDir, cwd: homeDir, env })
    const exitCode = await run(args, terminal)
    return { exitCode, stdout: stdout(), stderr: stderr(), json: () => JSON.parse(stdout()) }
  }

  it('blocks content, lists it, and unblocks it', async () => {
    const blocked = await lade(['admin', 'block', CID, '--reason', 'Malware'])
    expect(blocked).toMatchObject({ exitCode: 0, stdout: `Blocked ${CID}. 0 live files are refused now.\n` })
    expect((await lade(['get', CID])).exitCode).toBe(7)
    expect((await lade(['admin', 'blocks'])).stdout).toMatch(/Malware .*kept/)
    expect((await lade(['admin', 'blocks', '--json'])).json()).toMatchObject({
      blocks: [{ cid: CID, reason: 'Malware', deleted: false }],
      denylists: [],
    })
    const deleted = await lade(['admin', 'block', CID, '--reason', 'Malware', '--delete', '--json'])
    expect(deleted.json()).toMatchObject({ cid: CID, ended: 0, deleted: true })
    expect((await lade(['admin', 'unblock', CID])).stdout).toBe(`Unblocked ${CID}.\n`)
    expect(await lade(['admin', 'unblock', CID])).toMatchObject({ exitCode: 4 })
  })

  it('blocks callers, lists them, and unblocks them', async () => {
    const user = await lade([
      'admin',
      'block-caller',
      '--email',
      'spam@example.org',
      '--reason',
      'Spam',
      '--files',
      'remove',
    ])
    expect(user).toMatchObject({ exitCode: 0, stdout: 'Blocked spam@example.org as number 1.\n' })
    expect((await lade(['admin', 'caller', 'spam@example.org'])).stdout).toMatch(/^ +blocked +Spam \(.+\)$/m)
    expect((await lade(['admin', 'caller', 'ham@example.org'])).stdout).not.toContain('blocked')
    const network = ['admin', 'block-caller', '--network', '192.0.2.0/24', '--reason', 'Scraping', '--json']
    expect((await lade(network)).json()).toMatchObject({ id: 2, kind: 'network', files: 'keep' })
    expect((await lade(['admin', 'blocked-callers'])).stdout).toMatch(
      /192\.0\.2\.0\/24 .*Scraping[\s\S]*spam@example\.org/,
    )
    expect((await lade(['admin', 'unblock-caller', '2'])).stdout).toBe('Unblocked 192.0.2.0/24.\n')
    expect((await lade(['admin', 'blocked-callers', '--json'])).json()).toMatchObject([{ id: 1 }])
    expect((await lade(['admin', 'unblock-caller', '2'])).exitCode).toBe(4)
  })

  it('blocks hold after a restore of a backup', async () => {
    await lade(['admin', 'block', CID, '--reason', 'Malware'])
    const [backup, restored] = [join(homeDir, 'backup'), join(homeDir, 'restored')]
    expect(await lade(['backup', backup, '--data-dir', service.dataDir])).toMatchObject({ exitCode: 0 })
    expect(await lade(['restore', backup, '--data-dir', restored])).toMatchObject({ exitCode: 0 })
    const again = await startTestService({ LADE_DATA_DIR: restored })
    try {
      const answer = await fetch(`${again.url}/p/${CID}`)
      expect([answer.status, ((await answer.json()) as { error: string }).error]).toEqual([451, 'blocked'])
    } finally {
      await again.close()
    }
  })

  it.each([
    [['admin', 'block', CID]],
    [['admin', 'block', '--reason', 'x']],
    [['admin', 'block-caller', '--reason', 'x']],
    [['admin', 'block-caller', '--email', 'a@b.co', '--network', '192.0.2.0/24', '--reason', 'x']],
    [['admin', 'block-caller', '--email', 'a@b.co', '--reason', 'x', '--files', 'all']],
    [['admin', 'unblock-caller', 'x']],
    [['admin', 'block', 'x', '--reason', 'x']],
  ])('error: %j is a wrong command line', async (args) => {
    expect(await lade(args)).toMatchObject({ exitCode: 2 })
  })
})
