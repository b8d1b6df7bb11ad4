import { isIP, isIPv4 } from 'node:net'

/** The shortest prefixes that may be blocked: what is wider is a mistake. */
const MIN_PREFIX = { 4: 8, 6: 16 } as const
const BITS = { 4: 32, 6: 128 } as const

/** A range of addresses. */
export interface Network {
  readonly version: 4 | 6
  /** The first address, as a number. */
  readonly start: bigint
  readonly prefix: number
}

/**
 * Reads an address or a network in CIDR notation; bits behind the prefix are taken for 0.
 *
 * @returns undefined for what is neither, and for a network that is wider than a /8, or a /16 of IPv6.
 *
 * @example
 * networkText(parseNetwork('192.0.2.7/24')) // '192.0.2.0/24'
 */
export function parseNetwork(text: string): Network | undefined {
  const [address = '', prefixText, ...rest] = text.trim().split('/')
  const version = isIP(address) as 0 | 4 | 6
  if (version === 0 || rest.length > 0 || address.includes('%')) return undefined
  if (prefixText !== undefined && !/^\d{1,3}$/.test(prefixText)) return undefined
  const prefix = prefixText === undefined ? BITS[version] : Number(prefixText)
  if (prefix > BITS[version]) return undefined
  const mapped = version === 6 && prefix >= 96 ? ipv4In(numberOf(address)) : undefined
  if (mapped !== undefined) return networkOf(4, mapped, prefix - 96)
  return networkOf(version, numberOf(address), prefix)
}

/** @example networkText({ version: 4, start: 0xc0000200n, prefix: 24 }) // '192.0.2.0/24' */
export function networkText({ version, start, prefix }: Network): string {
  return `${addressText(version, start)}/${prefix}`
}

/** Finds the networks that an address is in, by one look for each length of prefix that there is. */
export class NetworkMap<Value> {
  readonly #maps = { 4: new Map<number, Map<bigint, Value>>(), 6: new Map<number, Map<bigint, Value>>() }
  #size = 0

  get size(): number {
    return this.#size
  }

  set({ version, start, prefix }: Network, value: Value): void {
    const ofLength = this.#maps[version].get(prefix) ?? new Map<bigint, Value>()
    this.#maps[version].set(prefix, ofLength)
    if (!ofLength.has(start)) this.#size += 1
    ofLength.set(start, value)
  }

  clear(): void {
    this.#maps[4].clear()
    this.#maps[6].clear()
    this.#size = 0
  }

  /** @param maxPrefix - networks of longer prefixes are passed over. @returns undefined also for what is no address. */
  find(address: string, maxPrefix = 128): Value | undefined {
    if (this.#size === 0 || isIP(address) === 0) return undefined
    const number = numberOf(address)
    const embedded = isIPv4(address) ? number : ipv4In(number)
    const version = embedded === undefined ? 6 : 4
    const value = embedded ?? number
    for (const [prefix, networks] of this.#maps[version]) {
      if (prefix > maxPrefix) continue
      const found = networks.get(startOf(version, value, prefix))
      if (found !== undefined) return found
    }
    return undefined
  }
}

function networkOf(version: 4 | 6, address: bigint, prefix: number): Network | undefined {
  return prefix < MIN_PREFIX[version] ? undefined : { version, start: startOf(version, address, prefix), prefix }
}

function startOf(version: 4 | 6, address: bigint, prefix: number): bigint {
  const free = BigInt(BITS[version] - prefix)
  return (address >> free) << free
}

function numberOf(address: string): bigint {
  if (isIPv4(address)) return address.split('.').reduce((number, part) => number * 256n + BigInt(part), 0n)
  // The dialect of URLs writes every form of an address in one way, the last 32 bits in hex.
  const written = new URL(`http://[${address.split('%')[0]}]`).hostname.slice(1, -1)
  const [head = '', tail] = written.split('::')
  const front = head === '' ? [] : head.split(':')
  const back = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Array.from({ length: tail === undefined ? 0 : 8 - front.length - back.length }, () => '0')
  return [...front, ...zeros, ...back].reduce((number, group) => number * 65_536n + BigInt(`0x${group}`), 0n)
}

/** The IPv4 address that an IPv4-mapped one, or one of NAT64, stands for. */
function ipv4In(address: bigint): bigint | undefined {
  const head = address >> 32n
  return head === 0xffffn || head === 0x64ff9bn << 64n ? address & 0xffff_ffffn : undefined
}

function addressText(version: 4 | 6, address: bigint): string {
  if (version === 4) return [24n, 16n, 8n, 0n].map((shift) => (address >> shift) & 255n).join('.')
  const groups = Array.from({ length: 8 }, (_, index) => ((address >> BigInt(112 - 16 * index)) & 0xffffn).toString(16))
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
}
