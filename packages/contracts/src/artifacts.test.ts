import { expect, it } from 'vitest'
import { compileContracts, compileSources } from '../compile.ts'
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
