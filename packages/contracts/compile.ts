/**
 * Compiles the contracts to `artifacts/`: one TypeScript file each, with the ABI as a constant type and the bytecode to deploy.
 *
 * Run it as `node compile.ts` after a change to a `.sol` file. Nothing is fetched: the compiler and what the contracts import are
 * packages of the workspace. A test compiles again and compares, so that the artifacts cannot fall behind their source.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const SOURCES = ['BlockHeader', 'DealBook', 'IMarketplace', 'Marketplace', 'PieceTree', 'TestUsdc']
/** Those that are deployed. The others are parts of them. */
const DEPLOYED = ['Marketplace', 'TestUsdc']
/** The only package that contracts may import from. */
const PACKAGE = '@openzeppelin/contracts/'
const require = createRequire(import.meta.url)

/** A contract as the compiler left it. */
export interface CompiledContract {
  readonly name: string
  readonly abi: readonly unknown[]
  /** `0x` and the code that a deployment sends. */
  readonly bytecode: string
}

interface CompilerMessage {
  readonly severity: 'error' | 'warning' | 'info'
  readonly formattedMessage: string
  readonly sourceLocation?: { readonly file: string }
}

interface CompilerOutput {
  readonly errors?: readonly CompilerMessage[]
  readonly contracts?: Readonly<
    Record<string, Readonly<Record<string, { abi: readonly unknown[]; evm: { bytecode: { object: string } } }>>>
  >
}

/**
 * Compiles sources by their names; what they import comes from `node_modules`.
 *
 * @param sources - the text of each file, by its name; each holds the contract that it is named after.
 * @throws {Error} with the compiler's own words when there is an error or a warning.
 */
export function compileSources(sources: Readonly<Record<string, string>>): CompiledContract[] {
  const input = {
    language: 'Solidity',
    sources: Object.fromEntries(Object.entries(sources).map(([file, content]) => [file, { content }])),
    settings: {
      optimizer: { enabled: true, runs: 1_000 },
      evmVersion: 'cancun',
      // The hash of the sources is left out, so that a comment does not change the code.
      metadata: { bytecodeHash: 'none', appendCBOR: false },
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
    },
  }
  // 10 MB of WebAssembly, loaded only by whoever compiles.
  const solc: { compile(input: string, readers: { import: typeof readImport }): string } = require('solc')
  const output: CompilerOutput = JSON.parse(solc.compile(JSON.stringify(input), { import: readImport }))
  const complaints = (output.errors ?? []).filter(isComplaint)
  if (complaints.length > 0) throw new Error(complaints.map(({ formattedMessage }) => formattedMessage).join('\n'))
  return Object.keys(sources).map((file) => {
    const name = file.replace(/\.sol$/, '')
    const compiled = output.contracts?.[file]?.[name]
    if (compiled === undefined) throw new Error(`${file} holds no contract ${name}`)
    return { name, abi: compiled.abi, bytecode: `0x${compiled.evm.bytecode.object}` }
  })
}

/** Compiles the contracts of this package. */
export function compileContracts(): CompiledContract[] {
  const compiled = compileSources(Object.fromEntries(SOURCES.map((name) => [`${name}.sol`, readSource(name)])))
  return compiled.filter(({ name }) => DEPLOYED.includes(name))
}

/** Errors, and warnings about the sources of this package: OpenZeppelin's are read there. */
function isComplaint({ severity, sourceLocation }: CompilerMessage): boolean {
  if (severity === 'warning') return sourceLocation?.file.startsWith(PACKAGE) !== true
  return severity === 'error'
}

function readSource(name: string): string {
  return readFileSync(join(import.meta.dirname, 'src', `${name}.sol`), 'utf8')
}

function readImport(path: string): { contents: string } | { error: string } {
  if (!path.startsWith(PACKAGE)) return { error: `${path} is not a source that contracts may import` }
  return { contents: readFileSync(require.resolve(path), 'utf8') }
}

function artifactOf({ name, abi, bytecode }: CompiledContract): string {
  const prefix = `${name.charAt(0).toLowerCase()}${name.slice(1)}`
  return [
    `// Written by compile.ts from src/${name}.sol. Do not edit.`,
    `export const ${prefix}Abi = ${JSON.stringify(abi, null, 2)} as const`,
    `export const ${prefix}Bytecode =\n  '${bytecode}'`,
    '',
  ].join('\n\n')
}

if (import.meta.main) {
  for (const contract of compileContracts()) {
    const file = join(import.meta.dirname, 'artifacts', `${contract.name}.ts`)
    writeFileSync(file, artifactOf(contract))
    console.log(`${contract.name}: ${(contract.bytecode.length - 2) / 2} bytes of code`)
  }
}
