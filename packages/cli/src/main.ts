#!/usr/bin/env -S node --max-semi-space-size=8
import { enableCompileCache } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { cacheFolder } from './account/folders.ts'
import { EXIT } from './exit-code.ts'

// In case the process runs out of work before the command has ended.
process.exitCode = EXIT.failed
// Before everything else is loaded: what was compiled once is kept for the next command. Where it cannot be kept, nothing else changes.
enableCompileCache(join(cacheFolder({ env: process.env, homeDir: homedir(), platform: process.platform }), 'compiled'))
// Not awaited: when bundled, parts that are loaded later import this module, and would wait for it to end.
void main().then((exitCode) => {
  process.exitCode = exitCode
})

async function main(): Promise<number> {
  const [{ processTerminal }, { run }] = await Promise.all([import('./process-terminal.ts'), import('./run.ts')])
  return run(process.argv.slice(2), processTerminal())
}
