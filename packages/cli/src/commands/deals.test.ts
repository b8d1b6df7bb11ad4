import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DealEntry } from '@lade/core/wire'
import { type FakeProver, openFakeProver } from '@lade/server/testing/fake-prover'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { widthOf } from '../output/printable.ts'
import { run } from '../run.ts'
import { startFakeService, startTestService, type TestService } from '../testing-service.ts'
import { type TestTerminalOptions, testTerminal } from '../testing-terminal.ts'

let service: TestService
let provers: FakeProver[]
let homeDir = ''
/** Staged before the tests, and held by the first prover that it was offered to. */
let deal: DealEntry
let token = ''
beforeAll(async () => {
  provers = ['https://one.example', 'https://two.example'].map((name) => openFakeProver({ name }))
  const env = { LADE_AGGREGATE_BELOW_MB: '0', LADE_TERM_MAX_DAYS: '60', LADE_AUDIT_SECONDS: '1' }
  service = await startTestService(env, { provers })
  homeDir = await mkdtemp(join(tmpdir(), 'lade-cli-deals-'))
  token = (await lade(['token', 'new', '--email', 'ada@example.org'])).stdout.trim()
  deal = await put('file')
})
afterAll(async () => {
  await service.close()
  await rm(homeDir, { recursive: true, force: true })
})

async function lade(args: readonly string[], options: TestTerminalOptions = {}) {
  const env = { LADE_URL: service.url, ...(token !== '' && { LADE_TOKEN: token }), ...options.env }
  const { terminal, stdout, stderr } = testTerminal({ homeDir, cwd: homeDir, ...options, env })
  const exitCode = await run(args, terminal)
  return { exitCode, stdout: stdout(), stderr: stderr(), json: () => JSON.parse(stdout()) }
}

/** Stages a file that no other test has, and waits for its proof. */
async function put(name: string): Promise<DealEntry> {
  await writeFile(join(homeDir, name), `${Math.random()}`.repeat(20_000))
  const { dealId } = (await lade(['put', name, '--json'])).json()
  return once(dealId, { status: 'active' })
}
const once = (dealId: string, expected: Partial<DealEntry>): Promise<DealEntry> =>
  vi.waitFor(
    async () => {
      const shown = (await lade(['deals', dealId, '--json'])).json()
      expect(shown).toMatchObject(expected)
      return shown
    },
    { timeout: 15_000, interval: 100 },
  )

describe('lade deals', () => {
  it('lists how often each is held, and those of one status alone', async () => {
    expect((await lade(['deals', '--status', 'active'])).stdout).toMatch(
      new RegExp(`^deal +status +copies .*\n${deal.dealId} +active +1 of 1 `),
    )
    expect((await lade(['deals', '--status', 'failed'])).stderr).toBe('No deal is failed.\n')
    expect(await lade(['deals', '--status', 'lost'])).toMatchObject({ exitCode: 2 })
  })

  it('shows the copies of one, and fits the list into 80 columns', async () => {
    const { dealId, cid, copies } = deal
    const { stdout } = await lade(['deals', dealId])
    expect(stdout).toContain(`  cid        ${cid}\n`)
    expect(stdout).toMatch(/^ {2}status {5}active, since \d{4}-/m)
    expect(stdout).toMatch(/^ {2}copies {5}1 of 1 proved$/m)
    expect(stdout).toMatch(new RegExp(`^prover +state +proved\n${copies[0]?.prover} +stored +`, 'm'))
    const list = (await lade(['deals'], { columns: 80 })).stdout.trimEnd().split('\n')
    for (const line of list) expect(widthOf(line)).toBeLessThanOrEqual(80)
  })

  it('says of a copy that was lost why', async () => {
    const { dealId, pieceCid } = await put('lost')
    const holder = provers.find(({ parked }) => parked.has(pieceCid ?? ''))
    holder?.lose(pieceCid ?? '')
    await once(dealId, { copies: expect.arrayContaining([expect.objectContaining({ state: 'failed' })]) })
    expect((await lade(['deals', dealId])).stdout).toMatch(new RegExp(`^${holder?.name}: [A-Z].*$`, 'm'))
    const audits = await lade(['deals', 'proofs', dealId])
    expect(audits.stdout).toMatch(new RegExp(`UTC +failed +.* ${holder?.name} `))
    expect(audits.stderr).toMatch(new RegExp(`^${holder?.name}: `, 'm'))
  })
})

describe('lade deals extend', () => {
  it('adds days, whichever side the flags stand on', async () => {
    const { dealId } = await put('longer')
    const { exitCode, stdout } = await lade(['deals', 'extend', dealId, '--days', '10'])
    expect([exitCode, stdout]).toEqual([
      0,
      expect.stringMatching(/ was extended by 10 days, until .* UTC, in 40 days\.\n$/),
    ])
    expect((await lade(['deals', 'extend', dealId, '--days', '1', '--json'])).json()).toMatchObject({ term: '41 days' })
    expect((await lade(['deals', '--json', 'extend', dealId, '--days', '1'])).json()).toMatchObject({ term: '42 days' })
  })

  it('makes a deal last until a day, however often it is run', async () => {
    const { dealId, expiresAt } = await put('until')
    const day = new Date(Date.parse(expiresAt) + 5 * 86_400_000).toISOString().slice(0, 10)
    for (let round = 0; round < 2; round += 1) {
      const { exitCode, stdout } = await lade(['deals', 'extend', dealId, '--until', day])
      expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/ lasts until .* UTC, in 3[56] days\.\n$/)])
    }
    for (const args of [
      ['--until', '2027-13-01'],
      ['--until', 'soon'],
      ['--until', day, '--days', '1'],
    ]) {
      expect((await lade(['deals', 'extend', dealId, ...args])).exitCode).toBe(2)
    }
  })

  it('asks no other service than the one that was named', async () => {
    const { dealId } = deal
    const asked: (string | undefined)[] = []
    const other = await startFakeService((request, response) => {
      asked.push(request.url)
      response.writeHead(404).end()
    })
    try {
      for (const args of [
        ['--url', other.url, 'extend', dealId],
        ['extend', dealId, '--url', other.url],
      ]) {
        expect((await lade(['deals', ...args, '--days', '1'])).exitCode).toBe(1)
      }
    } finally {
      await other.close()
    }
    expect(asked).toEqual(Array(2).fill(`/api/deals/${dealId}/extend`))
    expect((await lade(['deals', '--limit', '3', 'extend', dealId, '--days', '1'])).stderr).toBe(
      '"lade deals extend" does not accept --limit.\n',
    )
  })

  it('says how many days are left, and that a deal has ended', async () => {
    const { dealId, cid } = await put('over')
    const tooLong = await lade(['deals', 'extend', dealId, '--days', '31'])
    expect(tooLong).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('30 can be added') })
    await lade(['rm', '-y', cid])
    const ended = await lade(['deals', 'extend', dealId, '--days', '1'])
    expect(ended).toMatchObject({
      exitCode: 1,
      stderr: 'The deal is removed. Upload the file again to get a new deal.\n',
    })
    expect(await lade(['deals', 'extend', 'd-0x00', '--days', '1'])).toMatchObject({ exitCode: 4 })
    for (const args of [[], ['--days', '0'], ['--days', 'x']]) {
      expect((await lade(['deals', 'extend', dealId, ...args])).exitCode).toBe(2)
    }
  })
})

describe('lade deals redundancy', () => {
  it('has more provers hold it, as many as there are', async () => {
    const { dealId } = await put('twice')
    const { stdout, stderr } = await lade(['deals', 'redundancy', dealId, '2'])
    expect(stdout).toBe(`${dealId}: 2 copies requested, 1 proved.\n`)
    expect(stderr).toContain(`"lade deals ${dealId}"`)
    await once(dealId, { provedCopies: 2 })
    expect(await lade(['deals', 'redundancy', dealId, '3'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('2 provers are configured; you asked for'),
    })
    for (const copies of ['0', '17', 'x']) {
      expect((await lade(['deals', 'redundancy', dealId, copies])).exitCode).toBe(2)
    }
  })
})

describe('lade deals proofs', () => {
  it('shows the audits, and gives programs what can be checked again', async () => {
    const { dealId, pieceCid, copies } = deal
    const table = (await lade(['deals', 'proofs', dealId])).stdout
    expect(table).toMatch(new RegExp(`UTC +passed +5 leaves +${copies[0]?.prover} +${pieceCid}$`, 'm'))
    const { audits } = (await lade(['deals', 'proofs', dealId, '--json'])).json()
    expect(audits[0]).toMatchObject({ passed: true, seed: expect.stringMatching(/^0x[0-9a-f]{64}$/) })
    expect(audits[0].proofs).toHaveLength(5)
  })
})

describe('lade challenge', () => {
  it('says who holds it, and needs no login', async () => {
    const { cid, pieceCid, copies } = deal
    const { exitCode, stdout, stderr } = await lade(['challenge', cid], { env: { LADE_TOKEN: '' } })
    expect(exitCode).toBe(0)
    expect(stdout.split('\n')).toEqual([
      `${cid} is stored. The proof was checked on this machine.`,
      `  prover  ${copies[0]?.prover}`,
      `  piece   ${pieceCid}`,
      '  proof   5 leaves of 32 bytes, selected by the nonce',
      expect.stringMatching(/^ {2}nonce {3}[0-9a-f]{32}$/),
      '',
    ])
    expect(stderr).toContain('This check relies on the claim of the service that the piece is part of the file.')
  })

  it('believes nobody when it is asked for the piece CID', async () => {
    const { pieceCid } = deal
    expect((await lade(['challenge', pieceCid ?? ''])).stderr).toBe('')
    const json = (await lade(['challenge', pieceCid ?? '', '--nonce', 'mine', '--json'])).json()
    expect(json).toMatchObject({ held: true, isPieceOfCid: true, pieceCid, answer: { nonce: 'mine' } })
  })

  it('ends with 1 when the proof does not hold, or there is none', async () => {
    const { cid } = await put('other')
    // One who answers by the proof for a file that is held.
    const liar = await startFakeService(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      const answer = await fetch(`${service.url}/p/${cid}/challenge`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: Buffer.concat(chunks),
      })
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
    })
    try {
      const env = { LADE_URL: liar.url, LADE_TOKEN: '' }
      const { exitCode, stdout } = await lade(['challenge', deal.pieceCid ?? ''], { env })
      expect(exitCode).toBe(1)
      expect(stdout).toMatch(/^No valid proof that \w+ is stored\. The proof is invalid\. It is for another piece\.\n$/)
      const json = await lade(['challenge', deal.pieceCid ?? '', '--json'], { env })
      expect(json.exitCode).toBe(1)
      expect(json.json()).toMatchObject({ held: false, error: 'unexpected_answer' })
    } finally {
      await liar.close()
    }
    for (const prover of provers) prover.script.liesAboutBytes = true
    try {
      expect(await lade(['challenge', cid])).toMatchObject({ exitCode: 1, stdout: '' })
    } finally {
      for (const prover of provers) prover.script.liesAboutBytes = false
    }
    expect((await lade(['challenge', '0'.repeat(64)])).exitCode).toBe(4)
    expect((await lade(['challenge', cid, '--nonce', ''])).exitCode).toBe(2)
  })
})
