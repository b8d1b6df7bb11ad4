import { readFileSync } from 'node:fs'

/** Where a marketplace was deployed, as its address file says it. */
export interface AddressFile {
  readonly chainId: number
  readonly marketplace: `0x${string}`
  /** The token that deals are paid in. */
  readonly usdc?: `0x${string}`
  /** Of the contract. */
  readonly version?: number
  /** The contract's deals number from it. */
  readonly firstDealId?: bigint
  readonly deployedAtBlock?: bigint
}

/**
 * Reads an address file: the JSON that a deployment leaves, so that no address is copied by hand. Members that are not listed here are ignored.
 *
 * @throws {TypeError} with the end of a sentence about the file.
 *
 * @example
 * parseAddressFile('{"chainId":31337,"marketplace":"0x5FbDB2315678afecb367f032d93F642f64180aa3"}').chainId // 31337
 */
export function parseAddressFile(text: string): AddressFile {
  const facts = objectIn(text)
  const { chainId, usdc, version, firstDealId, deployedAtBlock } = facts
  if (!isPositive(chainId)) throw new TypeError('has no chainId')
  if (!isAddress(facts.marketplace)) throw new TypeError('has no address of a marketplace')
  return {
    chainId,
    marketplace: facts.marketplace,
    ...(isAddress(usdc) && { usdc }),
    ...(isPositive(version) && { version }),
    ...(isWhole(firstDealId) && { firstDealId: BigInt(firstDealId) }),
    ...(isWhole(deployedAtBlock) && { deployedAtBlock: BigInt(deployedAtBlock) }),
  }
}

/**
 * Reads the address file at a path.
 *
 * @throws {TypeError} with the end of a sentence about the file, also when it cannot be read.
 */
export function readAddressFile(path: string): AddressFile {
  return parseAddressFile(textOf(path))
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined
    if (code === undefined) throw error
    throw new TypeError(`cannot be read (${code})`, { cause: error })
  }
}

/** The text of an address file. Numbers that JSON may not hold exactly are decimal text. */
export function addressFileOf({ firstDealId, deployedAtBlock, ...facts }: AddressFile): string {
  const ids = {
    ...(firstDealId !== undefined && { firstDealId: String(firstDealId) }),
    ...(deployedAtBlock !== undefined && { deployedAtBlock: String(deployedAtBlock) }),
  }
  return `${JSON.stringify({ ...facts, ...ids }, null, 2)}\n`
}

function objectIn(text: string): Readonly<Record<string, unknown>> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw new TypeError('is not JSON', { cause: error })
    throw error
  }
  if (typeof value !== 'object' || value === null) throw new TypeError('is not a JSON object')
  return value as Readonly<Record<string, unknown>>
}

function isPositive(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0
}

function isWhole(value: unknown): value is number | string {
  if (typeof value === 'string') return /^(?:0|[1-9]\d{0,77})$/.test(value)
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isAddress(value: unknown): value is `0x${string}` {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value) && BigInt(value) !== 0n
}
