import { createRequire } from 'node:module'
import { keccak256, toHex } from 'viem'
import { expect, it } from 'vitest'
import { compileContracts, compileSources, verificationFiles } from '../compile.ts'
import { marketplaceAbi, marketplaceBytecode, testUsdcAbi, testUsdcBytecode } from './contracts.ts'

it('is what the compiler makes of the sources', () => {
  expect(compileContracts()).toEqual([
    { name: 'Marketplace', abi: marketplaceAbi, bytecode: marketplaceBytecode },
    { name: 'TestUsdc', abi: testUsdcAbi, bytecode: testUsdcBytecode },
  ])
}, 60_000)

it('error: sources that do not compile, and imports from elsewhere', () => {
  expect(() => compileSources({ 'A.sol': 'contract A { uint x = ; }' })).toThrow(/ParserError/)
  expect(() => compileSources({ 'A.sol': 'import "./../../etc/passwd"; contract A {}' })).toThrow(/may import/)
})

it('is verified by its standard JSON input alone, with no other source', () => {
  const { input, metadata } = verificationFiles('Marketplace')
  const solc: { compile(input: string): string } = createRequire(import.meta.url)('solc')
  const output = JSON.parse(solc.compile(input))
  const compiled = output.contracts['Marketplace.sol'].Marketplace
  expect(`0x${compiled.evm.bytecode.object}`).toBe(marketplaceBytecode)
  expect(compiled.metadata).toBe(metadata)
  const { sources } = JSON.parse(metadata)
  const hashOf = (path: string) => keccak256(toHex(JSON.parse(input).sources[path].content))
  expect(Object.keys(sources)).toContain('DealBook.sol')
  for (const [path, { keccak256: hash }] of Object.entries<{ keccak256: string }>(sources))
    expect(hashOf(path)).toBe(hash)
}, 60_000)
