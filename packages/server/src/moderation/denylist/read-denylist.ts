import { readFile } from 'node:fs/promises'
import { blockHashOf } from '@lade/node/hashing/block-hash'
import { decode as decodeDigest } from 'multiformats/hashes/digest'
import { turns } from '../turns.ts'
import { type DenyRule, readDenyRules } from './deny-rule.ts'
import type { Denylist } from './denylist.ts'

const MAX_HEADER_BYTES = 1_048_576
const MAX_LINE_BYTES = 2 * 1_048_576
const MAX_SHOWN = 5
const LINE_FEED = 0x0a

/** What came of reading a list. */
export interface ReadDenylist {
  readonly rules: number
  /** About names of IPNS, which are not resolved here. */
  readonly ignored: number
  /** Lines that are no rule. */
  readonly invalid: number
  /** The first of these, each as `line 7: why`. */
  readonly shown: readonly string[]
}

/**
 * Adds the rules of a file in the compact denylist format (IPIP-0383) to a denylist. Lines that are no rule are left out and counted.
 *
 * @throws {Error} for a file that cannot be read, a header that is no YAML or of another version, and a line of more than 2 MiB.
 * @see https://specs.ipfs.tech/compact-denylist-format/
 */
export async function readDenylist(file: string, denylist: Denylist): Promise<ReadDenylist> {
  const bytes = await readFile(file)
  const { bodyOffset, firstLine } = await readHeader(bytes)
  denylist.begin(file)
  const shown: string[] = []
  let [rules, ignored, invalid] = [0, 0, 0]
  let line = firstLine
  const pause = turns()
  for (let offset = bodyOffset; offset < bytes.length; line += 1) {
    const turn = pause()
    if (turn !== undefined) await turn
    const feed = bytes.indexOf(LINE_FEED, offset)
    const end = feed === -1 ? bytes.length : feed
    if (end - offset >= MAX_LINE_BYTES) throw new Error(`line ${line} has more than 2 MiB`)
    const text = bytes.toString('utf8', offset, end).trim()
    offset = end + 1
    if (text === '' || text.startsWith('#')) continue
    try {
      const found = readDenyRules(text)
      if (found === undefined) ignored += 1
      for (const rule of found ?? []) {
        requireKnownHash(rule)
        denylist.add(rule, line)
        rules += 1
      }
    } catch (error) {
      invalid += 1
      if (shown.length < MAX_SHOWN) shown.push(`line ${line}: ${(error as Error).message}`)
    }
  }
  return { rules, ignored, invalid, shown }
}

function requireKnownHash(rule: DenyRule): void {
  if (rule.kind !== 'double-hash') return
  const { code } = decodeDigest(rule.multihash)
  if (blockHashOf(code) === undefined) throw new Error(`the hash function 0x${code.toString(16)} is not supported`)
}

/** Where the rules begin: behind a line `---`, if there is one within the first MiB. */
async function readHeader(bytes: Buffer): Promise<{ readonly bodyOffset: number; readonly firstLine: number }> {
  const start = bytes.toString('latin1', 0, MAX_HEADER_BYTES)
  const end = /^---[ \t]*\r?(?:\n|$)/m.exec(start)
  if (end === null) return { bodyOffset: 0, firstLine: 1 }
  const header = bytes.toString('utf8', 0, end.index)
  const bodyOffset = end.index + end[0].length
  requireVersion(await parseYaml(header))
  return { bodyOffset, firstLine: start.slice(0, bodyOffset).split('\n').length }
}

async function parseYaml(header: string): Promise<unknown> {
  // Loaded when it is needed: most services have no list.
  const { parse } = await import('yaml')
  try {
    return parse(header)
  } catch (cause) {
    throw new Error('its header is not valid YAML', { cause })
  }
}

function requireVersion(header: unknown): void {
  const isMap = typeof header === 'object' && header !== null && !Array.isArray(header)
  if (header !== null && !isMap) throw new Error('its header is not a YAML map')
  const version: unknown = isMap && 'version' in header ? header.version : 1
  if (version !== 1) throw new Error(`its version is ${JSON.stringify(version)}, and only version 1 is known`)
}
