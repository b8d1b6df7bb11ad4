import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { onTestFinished } from 'vitest'
import { pathOf } from './harness.ts'

/** Runs one program of the machine to its end. @throws {Error} with what it said when it failed. */
export function run(name: string, ...args: readonly string[]): string {
  return execFileSync(pathOf(name) ?? name, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()
}

/** A small file system in memory at `path`, for as long as the running test. @param options.inodes - how many it has; 0 for any number. */
export function mountTmpfs(path: string, sizeBytes: number, { inodes = 0 }: { readonly inodes?: number } = {}): void {
  mkdirSync(path, { recursive: true })
  run('mount', '-t', 'tmpfs', '-o', `size=${sizeBytes},nr_inodes=${inodes}`, 'tmpfs', path)
  onTestFinished(() => unmount(path))
}

/** Takes a file system away from `path`, even while somebody still has a file of it open. */
export function unmount(path: string): void {
  run('umount', '--lazy', path)
}
