/**
 * Compiles the contracts to `artifacts/`: one TypeScript file each, with the ABI as a constant type and the bytecode to deploy.
 *
 * Run it as `node compile.ts` after a change to a `.sol` file. Nothing is fetched: the compiler and what the contracts import are
 * packages of the workspace. A test compiles again and compares, so that the artifacts cannot fall behind their source.
 *
 * `node compile.ts --standard-json DIRECTORY` writes what block explorers need to verify the code of the marketplace.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const SOURCES = [
  ...['BlockHeader', 'DealBook', 'DealChallenges', 'DealViews', 'IMarketplace', 'Marketplace', 'PieceTree', 'TestUsdc'],
]
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
    Record<
      string,
      Readonly<Record<string, { abi: readonly unknown[]; metadata: string; evm: { bytecode: { object: string } } }>>
    >
  >
}

/** What verifies the code of a contract, as the compiler takes it, and what it says about it. */
export interface VerificationFiles {
  /** The standard JSON input, with the text of every source. */
  readonly input: string
  readonly metadata: string
}

/**
 * Compiles sources by their names; what they import comes from `node_modules`.
 *
 * @param sources - the text of each file, by its name; each holds the contract that it is named after.
 * @throws {Error} with the compiler's own words when there is an error or a warning.
 */
export function compileSources(sources: Readonly<Record<string, string>>): CompiledContract[] {
  const output = runCompiler(inputOf(sources))
  return Object.keys(sources).map((file) => {
    const name = file.replace(/\.sol$/, '')
    const compiled = output.contracts?.[file]?.[name]
    if (compiled === undefined) throw new Error(`${file} holds no contract ${name}`)
    return { name, abi: compiled.abi, bytecode: `0x${compiled.evm.bytecode.object}` }
  })
}

/** The files that verify the code of a contract of this package; see {@link VerificationFiles}. */
export function verificationFiles(name: string): VerificationFiles {
  const file = `${name}.sol`
  const metadata = runCompiler(inputOf(ownSources())).contracts?.[file]?.[name]?.metadata
  if (metadata === undefined) throw new Error(`there is no contract ${name}`)
  const parsed: { readonly sources: Readonly<Record<string, unknown>> } = JSON.parse(metadata)
  const sources = Object.keys(parsed.sources).map((path) => {
    const isImported = path.startsWith(PACKAGE)
    return [path, isImported ? readFileSync(require.resolve(path), 'utf8') : readSource(path.replace(/\.sol$/, ''))]
  })
  return { input: JSON.stringify(inputOf(Object.fromEntries(sources)), null, 2), metadata }
}

function inputOf(sources: Readonly<Record<string, string>>) {
  return {
    language: 'Solidity',
    sources: Object.fromEntries(Object.entries(sources).map(([file, content]) => [file, { content }])),
    settings: {
      optimizer: { enabled: true, runs: 1_000 },
      evmVersion: 'cancun',
      // The hash of the sources is left out, so that a comment does not change the code.
      metadata: { bytecodeHash: 'none', appendCBOR: false },
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object', 'metadata'] } },
    },
  }
}

function runCompiler(input: ReturnType<typeof inputOf>): CompilerOutput {
  // 10 MB of WebAssembly, loaded only by whoever compiles.
  const solc: { compile(input: string, readers: { import: typeof readImport }): string } = require('solc')
  const output: CompilerOutput = JSON.parse(solc.compile(JSON.stringify(input), { import: readImport }))
  const complaints = (output.errors ?? []).filter(isComplaint)
  if (complaints.length > 0) throw new Error(complaints.map(({ formattedMessage }) => formattedMessage).join('\n'))
  return output
}

/** Compiles the contracts of this package. */
export function compileContracts(): CompiledContract[] {
  return compileSources(ownSources()).filter(({ name }) => DEPLOYED.includes(name))
}

function ownSources(): Record<string, string> {
  return Object.fromEntries(SOURCES.map((name) => [`${name}.sol`, readSource(name)]))
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

function writeArtifacts(): void {
  for (const contract of compileContracts()) {
    const file = join(import.meta.dirname, 'artifacts', `${contract.name}.ts`)
    writeFileSync(file, artifactOf(contract))
    console.log(`${contract.name}: ${(contract.bytecode.length - 2) / 2} bytes of code`)
  }
}

function writeVerification(directory: string): void {
  const { input, metadata } = verificationFiles('Marketplace')
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'Marketplace.standard-input.json'), input)
  writeFileSync(join(directory, 'Marketplace.metadata.json'), metadata)
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { 'standard-json': { type: 'string' } } })
  const directory = values['standard-json']
  if (directory === undefined) writeArtifacts()
  else writeVerification(directory)
}
