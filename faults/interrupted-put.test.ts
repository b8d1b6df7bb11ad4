import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import http from 'node:http'
import { join } from 'node:path'
import { create as createPieceHasher } from 'fr32-sha2-256-trunc254-padded-binary-tree-multihash'
import { importer } from 'ipfs-unixfs-importer'
import { base32 } from 'multiformats/bases/base32'
import * as Digest from 'multiformats/hashes/digest'
import { describe, expect, onTestFinished, test } from 'vitest'
import { send, tokenCaller } from './caller.ts'
import { newContent } from './content.ts'
import { readDataDirectory } from './data-directory.ts'
import { atRest } from './invariants.ts'
import { PLAN } from './plan.ts'
import { type Relay, type RelayedUpload, startRelay } from './relay.ts'
import { type Exit, MAIN, type ServerProcess, startServer } from './server-process.ts'
import { tempDirectory } from './temp-directory.ts'

const MB = 1024 * 1024
const PART_BYTES = 127 * MB
const BLOCK = newContent(MB).bytes()
const ENDED_WITHIN_MS = 1_200_000

interface Original {
  readonly path: string
  readonly sha256: string
  /** What `ipfs-unixfs-importer` says. */
  readonly cid: string
  /** The multihash digest of the piece, by an implementation of others. */
  readonly piece: string
}

/** A file of which no two blocks are alike, and its ids by libraries of others. */
async function writeOriginal(path: string, sizeBytes: number): Promise<Original> {
  await using file = await open(path, 'wx')
  const hash = createHash('sha256')
  const piece = createPieceHasher()
  for (let offset = 0; offset < sizeBytes; offset += BLOCK.length) {
    const block = Buffer.from(BLOCK.subarray(0, sizeBytes - offset))
    block.writeBigUInt64LE(BigInt(offset), 0)
    hash.update(block)
    piece.write(block)
    await file.writeFile(block)
  }
  const source = [{ content: createReadStream(path, { highWaterMark: MB }) }]
  // @ts-expect-error the importer asks a store only to put
  for await (const { cid } of importer(source, { put: async (cid: unknown) => cid }, { profile: 'unixfs-v1-2025' })) {
    const digest = new Uint8Array(piece.multihashByteLength())
    piece.digestInto(digest, 0, true)
    return {
      path,
      sha256: hash.digest('hex'),
      cid: cid.toString(),
      piece: Buffer.from(Digest.decode(digest).digest).toString('hex'),
    }
  }
  throw new TypeError('the importer gave no root')
}

interface Put {
  readonly exited: Promise<Exit>
  readonly printed: () => string
  readonly said: () => string
  kill(): void
}

function startPut(path: string, relay: Relay, { token, home }: { token: string; home: string }): Put {
  const env = { PATH: process.env.PATH, HOME: home, LADE_URL: relay.url.href, LADE_TOKEN: token, NO_COLOR: '1' }
  const child = spawn(process.execPath, [MAIN, 'put', '--json', path], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  const exited = new Promise<Exit>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }))
  })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  return { exited, printed: () => printed, said: () => said, kill: () => void child.kill('SIGKILL') }
}

/** Uploads whose body began to pass after one of the same id had been acknowledged. */
function sentAgain(uploads: readonly RelayedUpload[]): string[] {
  const acknowledged = new Set<string>()
  const again: string[] = []
  for (const { cid, status } of uploads) {
    if (acknowledged.has(cid)) again.push(cid)
    if (status === 200) acknowledged.add(cid)
  }
  return again
}

function downloadSha256(server: ServerProcess, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    http.get(new URL(path, server.url), { agent: false }, (response) => {
      const hash = createHash('sha256')
      response.on('data', (chunk: Buffer) => hash.update(chunk))
      response.on('end', () => resolve(hash.digest('hex')))
      response.on('error', reject)
    })
  })
}

describe('a big file that is put while the service and the client are killed', () => {
  test('arrives whole under the id that others compute, sends no acknowledged part twice, and is charged once', {
    timeout: ENDED_WITHIN_MS,
  }, async () => {
    const home = tempDirectory()
    const sizeBytes = PLAN.interruptedPutBytes
    const original = await writeOriginal(join(home, 'original.bin'), sizeBytes)
    const parts = Math.ceil(sizeBytes / PART_BYTES)

    const limits = { LADE_TOKEN_FILE_MB: '100000', LADE_TOKEN_DAILY_MB: '100000' }
    let server = await startServer({ env: limits })
    const relay = await startRelay(server.url)
    const user = await tokenCaller(server.url)
    const token = (user.headers.Authorization ?? '').replace('Bearer ', '')
    let put = startPut(original.path, relay, { token, home })

    const acknowledged = () => relay.uploads.filter(({ status }) => status === 200).length
    for (const [index, victim] of PLAN.putInterruptions.entries()) {
      // Spread over the parts, each while others are under way.
      const due = Math.floor((index * parts) / PLAN.putInterruptions.length) + 1
      let end: Exit | undefined
      void put.exited.then((exit) => {
        end = exit
      })
      while (acknowledged() < due && end === undefined) await new Promise((resolve) => setTimeout(resolve, 5))
      expect(end, `the put ended early: ${put.said()}`).toBeUndefined()
      if (victim === 'server') {
        await server.kill()
        server = await startServer({ dataDir: server.dataDir, env: limits })
        relay.target = server.url
      } else {
        put.kill()
        await put.exited
        put = startPut(original.path, relay, { token, home })
      }
    }
    expect(await put.exited, put.said()).toEqual({ code: 0, signal: null })

    const result = JSON.parse(put.printed()) as { cid: string; size: number; pieceCid: string }
    expect(result).toMatchObject({ cid: original.cid, size: sizeBytes })
    const pieces = await send(server.url, 'GET', `/api/piece-cids?cid=${original.cid}`, { headers: user.headers })
    expect(JSON.parse(pieces.body.toString())).toMatchObject({ items: [{ pieceCid: result.pieceCid }] })
    expect(Buffer.from(base32.decode(result.pieceCid)).toString('hex')).toContain(original.piece)

    expect(sentAgain(relay.uploads)).toEqual([])
    expect(await downloadSha256(server, `/p/${original.cid}`)).toBe(original.sha256)

    const files = await send(server.url, 'GET', '/api/files', { headers: user.headers })
    expect(JSON.parse(files.body.toString())).toMatchObject({ count: 1, files: [{ cid: original.cid }] })
    const data = readDataDirectory(server.dataDir)
    expect(data.usage.get(user.principal)).toBe(sizeBytes)
    expect(data.reservations).toEqual([])
    expect(data.pending).toEqual([])
    expect(atRest(data)).toEqual([])
  })
})
