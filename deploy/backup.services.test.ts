import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { type Caller, send, tokenCaller } from '../faults/caller.ts'
import { sha256Hex } from '../faults/content.ts'
import { readDataDirectory } from '../faults/data-directory.ts'
import { type ServerProcess, startServer } from '../faults/server-process.ts'
import { tempDirectory } from '../faults/temp-directory.ts'

const PAGE = new URL('../docs/operate/backup.md', import.meta.url)
/** Where `lade` is. */
const PROGRAMS = fileURLToPath(new URL('../node_modules/.bin', import.meta.url))
const FILES = 40
/** Some of them are kept in the database, some as blobs. */
const SIZES = [10, 3000, 70_000, 400_000]

/** What a caller was told is staged. */
interface Staged {
  readonly cid: string
  readonly sizeBytes: number
}

/** The text of the code block behind `<!-- name -->` on the page of backups. */
function commandsOf(name: string): string {
  const block = new RegExp(`<!-- ${name} -->\n\`\`\`sh\n([\\s\\S]*?)\n\`\`\``).exec(readFileSync(PAGE, 'utf8'))?.[1]
  if (block === undefined) throw new Error(`The page has no block of commands ${name}.`)
  return block
}

/** Runs commands as an operator's script does, in which the first failure is the last command. */
function runCommands(text: string, env: Readonly<Record<string, string>>): Promise<void> {
  const { PATH = '' } = process.env
  const path = [PROGRAMS, dirname(process.execPath), PATH].join(':')
  const shell = spawn('bash', ['-euo', 'pipefail', '-c', text], {
    env: { PATH: path, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [shell.stdout, shell.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()))
  return new Promise((resolve, reject) => {
    shell.once('error', reject)
    shell.once('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`The commands ended with ${code}:\n${said}`)),
    )
  })
}

async function stage(server: ServerProcess, caller: Caller, sizeBytes: number): Promise<Staged | undefined> {
  const body = randomBytes(sizeBytes)
  const cid = sha256Hex(body)
  const headers = { ...caller.headers, 'Content-Type': 'application/octet-stream' }
  const answer = await send(server.url, 'POST', `/api/upload?cid=${cid}`, { headers, body })
  return answer.status === 200 ? { cid, sizeBytes } : undefined
}

async function stageMany(server: ServerProcess, caller: Caller): Promise<Staged[]> {
  const staged: Staged[] = []
  for (let index = 0; index < FILES; index += 1) {
    const file = await stage(server, caller, SIZES[index % SIZES.length] ?? 1)
    if (file !== undefined) staged.push(file)
  }
  return staged
}

/** Stages and removes files until it is told to stop. */
function keepBusy(server: ServerProcess, caller: Caller): { stop(): Promise<number> } {
  let isBusy = true
  async function work(): Promise<number> {
    let done = 0
    while (isBusy) {
      const file = await stage(server, caller, SIZES[done % SIZES.length] ?? 1)
      if (file !== undefined && done % 3 === 0) await send(server.url, 'DELETE', `/api/files/${file.cid}`, caller)
      done += 1
    }
    return done
  }
  const working = Promise.all([work(), work()])
  return {
    async stop() {
      isBusy = false
      return (await working).reduce((sum, done) => sum + done, 0)
    },
  }
}

async function usageOf(server: ServerProcess, caller: Caller): Promise<unknown> {
  const answer = await send(server.url, 'GET', '/api/usage', caller)
  const { today } = JSON.parse(answer.body.toString()) as { today: Record<string, unknown> }
  return { bytes: today.bytes, files: today.files, reservedBytes: today.reservedBytes }
}

describe('a backup by the commands of the page', () => {
  test('brings back every file that was acknowledged before it, and exact usage, after the directory is gone', async () => {
    const server = await startServer()
    const env = { LADE_DATA_DIR: server.dataDir, BACKUP_DIR: join(tempDirectory(), 'copy') }
    const [ada, bob] = await Promise.all([tokenCaller(server.url), tokenCaller(server.url)])
    const staged = await stageMany(server, ada)
    expect(staged).toHaveLength(FILES)

    const load = keepBusy(server, bob)
    await sleep(300)
    await runCommands(commandsOf('backup'), env)
    await sleep(100)
    expect(await load.stop()).toBeGreaterThan(5)
    const late = await stage(server, ada, 5000)
    await server.kill()
    rmSync(server.dataDir, { recursive: true })

    // The same place, and another machine's.
    const elsewhere = join(tempDirectory(), 'data')
    await runCommands(commandsOf('restore'), { ...env, LADE_DATA_DIR: elsewhere })
    await runCommands(commandsOf('restore-with-tokens'), env)
    expect(statSync(join(server.dataDir, 'token.key')).mode & 0o077).toBe(0)
    const [restored, other] = [
      await startServer({ dataDir: server.dataDir }),
      await startServer({ dataDir: elsewhere }),
    ]
    for (const { cid, sizeBytes } of staged) {
      for (const { url } of [restored, other]) {
        const answer = await send(url, 'GET', `/p/${cid}`)
        expect([answer.status, answer.body.length, sha256Hex(answer.body)]).toEqual([200, sizeBytes, cid])
      }
    }
    const bytes = staged.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
    // The token still works where its key came back, and the file from after the backup is gone with its charge.
    expect(await usageOf(restored, ada)).toEqual({ bytes, files: FILES, reservedBytes: 0 })
    expect((await send(other.url, 'GET', '/api/usage', ada)).status).toBe(401)
    expect((await send(restored.url, 'GET', `/p/${late?.cid}`)).status).toBe(404)

    // Of the other user, who was busy meanwhile: whatever the records say is live is served.
    const listed = await send(restored.url, 'GET', '/api/files?limit=1000', bob)
    const { files } = JSON.parse(listed.body.toString()) as { files: { cid: string }[] }
    expect(files.length).toBeGreaterThan(0)
    for (const { cid } of files) expect(sha256Hex((await send(restored.url, 'GET', `/p/${cid}`)).body)).toBe(cid)

    // Again: the service that was restored is backed up into a folder of its own.
    expect(await stage(restored, ada, 70_001)).toBeDefined()
    await runCommands(commandsOf('backup'), { ...env, BACKUP_DIR: join(tempDirectory(), 'copy') })
    await restored.stop()
    const { reservations, pending, integrity } = readDataDirectory(server.dataDir)
    expect({ reservations, pending, integrity }).toEqual({ reservations: [], pending: [], integrity: 'ok' })
  })
})
