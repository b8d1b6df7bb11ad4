import { test } from 'vitest'
import { expectUnharmed, measureAttack } from './attack.ts'
import { BOUNDLESS_QUOTAS } from './load.ts'
import { PLAN } from './plan.ts'
import { startServer } from './server-process.ts'

/** Connections that upload the same body again and again, whatever is answered. `body` has to set `target`, `type` and `body`. */
const uploading = (body: string): string => `
  const { createHash, randomBytes } = require('node:crypto')
  const { connect } = require('node:net')
  const [port, connections, addresses] = process.argv.slice(1).map(Number)
  ${body}
  const bytesOf = () => [
    Buffer.from('POST /api/upload?cid=' + target() + ' HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\nContent-Type: ' + type +
      '\\r\\nContent-Length: ' + body.length + '\\r\\n\\r\\n'),
    body,
  ]
  const attack = (index) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: '127.0.1.' + (1 + (index % addresses)) })
    const upload = () => {
      const [head, body] = bytesOf()
      socket.write(head)
      socket.write(body, () => socket.once('data', upload))
    }
    upload()
    socket.resume()
    socket.on('error', () => {})
    socket.on('close', () => setTimeout(attack, 20, index))
  }
  for (let index = 0; index < connections; index += 1) attack(index)`

const WRONG_ID = `
  const type = 'application/octet-stream'
  const target = () => randomBytes(32).toString('hex')`
const SMALL_WITH_WRONG_ID = uploading(`${WRONG_ID}
  const body = randomBytes(4096)`)
const BELOW_4_MIB_WITH_WRONG_ID = uploading(`${WRONG_ID}
  const body = randomBytes(4 * 1024 * 1024 - 1)`)
const BIG_WITH_WRONG_ID = uploading(`${WRONG_ID}
  const body = randomBytes(16 * 1024 * 1024)`)

const CAR = `
  const type = 'application/vnd.ipld.car'
  const varint = (value) => (value < 128 ? [value] : [(value & 127) | 128, ...varint(Math.floor(value / 128))])
  const cidOf = (block) => Buffer.concat([Buffer.of(1, 0x71, 0x12, 32), createHash('sha256').update(block).digest()])
  const section = (block) => Buffer.concat([Buffer.from(varint(36 + block.length)), cidOf(block), block])
  const listOf = (count) => {
    if (count < 24) return Buffer.of(0x80 + count)
    return count < 65_536 ? Buffer.of(0x99, count >> 8, count) : Buffer.of(0x9a, count >> 24, count >> 16, count >> 8, count)
  }
  const linkTo = (cid) => Buffer.concat([Buffer.of(0xd8, 0x2a, 0x58, 37, 0), cid])
  const carOf = (blocks) => {
    const root = Buffer.concat([listOf(blocks.length), ...blocks.map((block) => linkTo(cidOf(block)))])
    target = () => 'f' + cidOf(root).toString('hex')
    return Buffer.concat([Buffer.from('11a265726f6f7473806776657273696f6e01', 'hex'), ...[...blocks, root].map(section)])
  }
  let target`
/** As many links as a CAR may have, and all to blocks that are missing. */
const LINKS_IN_A_CAR = uploading(`${CAR}
  const head = Buffer.from('d82a58250001551220', 'hex')
  const linksBlock = () => {
    const links = randomBytes(50_000 * 41)
    for (let at = 0; at < links.length; at += 41) head.copy(links, at)
    return Buffer.concat([listOf(50_000), links])
  }
  const body = carOf(Array.from({ length: 20 }, linksBlock))`)
/** Blocks without links that take long to decode, and are what they say. */
const EMPTY_MAPS_IN_A_CAR = uploading(`${CAR}
  const mapsBlock = (_, index) => Buffer.concat([listOf(2_000_001), Buffer.of(index), Buffer.alloc(2_000_000, 0xa0)])
  const body = carOf(Array.from({ length: 8 }, mapsBlock))`)

const ATTACKS = [
  { name: 'eight CARs of a million links', script: LINKS_IN_A_CAR, connections: 8, addresses: 1 },
  { name: 'CARs of a million links', script: LINKS_IN_A_CAR, connections: 300, addresses: 250 },
  { name: 'CARs of blocks that are slow to decode', script: EMPTY_MAPS_IN_A_CAR, connections: 300, addresses: 250 },
  { name: 'eight 16 MiB bodies with wrong ids', script: BIG_WITH_WRONG_ID, connections: 8, addresses: 1 },
  { name: '16 MiB bodies with wrong ids', script: BIG_WITH_WRONG_ID, connections: 300, addresses: 250 },
  {
    name: 'bodies just below 4 MiB with wrong ids',
    script: BELOW_4_MIB_WITH_WRONG_ID,
    connections: 300,
    addresses: 250,
  },
  { name: '4 KiB bodies with wrong ids', script: SMALL_WITH_WRONG_ID, connections: 300, addresses: 250 },
] as const

test.each(PLAN.isFull ? ATTACKS : ATTACKS.slice(0, 1))(
  '$name hold up nobody ($connections connections)',
  async ({ name, script, connections, addresses }) => {
    const server = await startServer({ env: BOUNDLESS_QUOTAS })
    const args = [String(connections), String(addresses)]
    await expectUnharmed(server, name, await measureAttack({ server, script, args, forMs: PLAN.attackMs }))
  },
)
