import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { expectUnharmed, measureAttack } from './attack.ts'
import { send, sponsoredCaller } from './caller.ts'
import { BOUNDLESS_QUOTAS } from './load.ts'
import { PLAN } from './plan.ts'
import { type ServerProcess, startServer } from './server-process.ts'

const CONNECTIONS = PLAN.isFull ? 300 : 20
/** Blocks of each kind: what was read once is not read again, so that the attack goes on to others. */
const BLOCKS = PLAN.isFull ? 40 : 1
const BLOCK_BYTES = 2 * 1024 * 1024

/** Connections that ask for the CARs of blocks in turn, half of them by HEAD, and ask again when they are answered or cut off. */
const ATTACK = `
  const { connect } = require('node:net')
  const [port, connections, ...paths] = process.argv.slice(1)
  let turn = 0
  const attack = (index) => {
    const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress: '127.0.1.' + (1 + (index % 250)) })
    const ask = () => {
      turn += 1
      const path = paths[turn % paths.length]
      socket.write((index % 2 ? 'GET ' : 'HEAD ') + path + ' HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\n\\r\\n')
    }
    ask()
    let end = Buffer.alloc(0)
    socket.on('data', (data) => {
      const isAnswered = index % 2 ? data.subarray(-7).toString('latin1').endsWith('0\\r\\n\\r\\n') : true
      if (isAnswered) setTimeout(ask, 5)
    })
    socket.on('error', () => {})
    socket.on('close', () => setTimeout(attack, 50, index))
  }
  for (let index = 0; index < Number(connections); index += 1) attack(index)`

const CODECS = { 'dag-pb': [0x70], 'dag-cbor': [0x71], 'dag-json': [0xa9, 0x02] } as const

/** Bytes under the CID that they have as a block. */
async function stage(server: ServerProcess, codec: keyof typeof CODECS, body: Uint8Array): Promise<string> {
  const cid = cidOf(codec, body)
  const text = `f${cid.toString('hex')}`
  const headers = { ...sponsoredCaller('192.0.2.9').headers, 'Content-Type': 'application/octet-stream' }
  const { status } = await send(server.url, 'POST', `/api/upload?cid=${text}`, { headers, body })
  expect(status).toBe(200)
  return text
}

function cidOf(codec: keyof typeof CODECS, bytes: Uint8Array): Buffer {
  const digest = createHash('sha256').update(bytes).digest()
  return Buffer.concat([Uint8Array.of(1, ...CODECS[codec], 0x12, 32), digest])
}

/** An identity CID in base58, as long as one may be. */
function longLink(seed: number): string {
  const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
  let number = BigInt(`0x0155 00ed02 ${seed.toString(16).padStart(4, '0')} ${'ff'.repeat(363)}`.replaceAll(' ', ''))
  let text = ''
  for (; number > 0n; number /= 58n) text = alphabet[Number(number % 58n)] + text
  return `z${text}`
}

function jsonBlock(seed: number): Buffer {
  const link = `{"/":"${longLink(seed)}"}`
  return Buffer.from(`[${Array.from({ length: Math.floor(BLOCK_BYTES / (link.length + 1)) }, () => link).join(',')}]`)
}

function cborList(links: readonly Uint8Array[]): Buffer {
  const head = Buffer.from([0x9a, 0, 0, 0, 0])
  head.writeUInt32BE(links.length, 1)
  return Buffer.concat([head, ...links.flatMap((cid) => [Uint8Array.of(0xd8, 0x2a, 0x58, cid.length + 1, 0), cid])])
}

/** 220,000 links to blocks that are in them, and empty. */
function cborBlock(seed: number): Buffer {
  return cborList(Array.from({ length: 220_000 - seed }, () => Uint8Array.of(1, 0x55, 0, 0)))
}

/** A node of 47,000 links to a block that is not there. */
function pbBlock(seed: number): Buffer {
  const cid = cidOf('dag-pb', Uint8Array.of(seed))
  const link = Buffer.concat([Uint8Array.of(0x12, cid.length + 2, 0x0a, cid.length), cid])
  return Buffer.concat(Array.from({ length: 47_000 }, () => link))
}

/** Blocks that each link twice to the one before: with duplicates, more than anyone can send. */
async function stageEndlessDag(server: ServerProcess): Promise<string> {
  let block = cborList([])
  for (let level = 0; level < 60; level += 1) {
    await stage(server, 'dag-cbor', block)
    block = cborList([cidOf('dag-cbor', block), cidOf('dag-cbor', block)])
  }
  return stage(server, 'dag-cbor', block)
}

const KINDS = {
  'blocks of 4,000 long links in dag-json': async (server: ServerProcess, seed: number) =>
    `${await stage(server, 'dag-json', jsonBlock(seed))}?format=car`,
  'blocks of 220,000 inline links in dag-cbor, with duplicates': async (server: ServerProcess, seed: number) =>
    `${await stage(server, 'dag-cbor', cborBlock(seed))}?format=car&car-dups=y`,
  'blocks of 47,000 links in dag-pb': async (server: ServerProcess, seed: number) =>
    `${await stage(server, 'dag-pb', pbBlock(seed))}?format=car`,
  'a DAG without end': async (server: ServerProcess) => `${await stageEndlessDag(server)}?format=car&car-dups=y`,
}

/** The whole plan takes each kind by itself, the ordinary one all of them at once. */
const ATTACKS = PLAN.isFull
  ? Object.entries(KINDS).map(([name, kind]) => ({ name, kinds: [kind] }))
  : [{ name: Object.keys(KINDS).join(', and '), kinds: Object.values(KINDS) }]

test.each(ATTACKS)(`CARs of $name hold up nobody (${CONNECTIONS} connections)`, async ({ name, kinds }) => {
  const server = await startServer({ env: BOUNDLESS_QUOTAS })
  const paths = new Set<string>()
  for (let seed = 0; seed < BLOCKS; seed += 1) {
    for (const stagePath of kinds) paths.add(`/ipfs/${await stagePath(server, seed)}`)
  }
  const args = [String(CONNECTIONS), ...paths]
  await expectUnharmed(server, name, await measureAttack({ server, script: ATTACK, args, forMs: PLAN.attackMs }))
})
