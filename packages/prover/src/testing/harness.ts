import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hashPiece, pieceCidV1, pieceCidV2 } from '@lade/core/piece'
import { onTestFinished } from 'vitest'
import type { ProverOptions } from '../prover-options.ts'
import { type Prover, startProver } from '../start-prover.ts'

/** Some bytes and the names that they have as a piece. */
export interface TestPiece {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly pieceCid: string
  readonly pieceCidV1: string
}

/** Bytes without a pattern, the same for the same seed (xorshift32). */
export function pieceOf(sizeBytes: number, seed = 1): TestPiece {
  let state = seed | 1
  const bytes = new Uint8Array(sizeBytes).map(() => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return state >>> 8
  })
  return pieceOfBytes(bytes)
}

export function pieceOfBytes(bytes: Uint8Array<ArrayBuffer>): TestPiece {
  const commitment = hashPiece(bytes)
  return { bytes, pieceCid: pieceCidV2(commitment), pieceCidV1: pieceCidV1(commitment.root) }
}

/** A new folder, and what removes it. */
export async function makeTemporaryDir(): Promise<{ readonly dir: string; readonly remove: () => Promise<void> }> {
  const dir = await mkdtemp(join(tmpdir(), 'lade-prover-'))
  return { dir, remove: () => rm(dir, { recursive: true, force: true }) }
}

/** A new folder that is gone after the test. */
export async function temporaryDir(): Promise<string> {
  const { dir, remove } = await makeTemporaryDir()
  onTestFinished(remove)
  return dir
}

/** A prover without Curio's waits, that ends with the test. */
export async function startTestProver(
  options: Partial<ProverOptions> = {},
): Promise<Prover & { readonly dir: string }> {
  const dir = options.dir ?? (await temporaryDir())
  const prover = await startProver({ findDelayMs: 0, confirmDelayMs: 0, drainMs: 200, ...options, dir })
  onTestFinished(() => prover.close())
  return { ...prover, dir }
}
