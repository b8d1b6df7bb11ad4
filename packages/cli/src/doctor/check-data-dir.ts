import { randomBytes } from 'node:crypto'
import { type FileHandle, open, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { formatBytes } from '../output/amounts.ts'
import type { Terminal } from '../terminal.ts'
import { fileSystemKind } from './file-systems.ts'
import { broken, type Finding, ok, unknown, warning } from './finding.ts'

export interface DataDirSettings {
  readonly dataDir: string
  /** Less than this, and the service refuses uploads. */
  readonly minFreeBytes: number
}

/** The data directory: is it there, can it be written, is there room, and does it keep what it is given. */
export async function checkDataDir(
  { dataDir, minFreeBytes }: DataDirSettings,
  { platform }: Pick<Terminal, 'platform'>,
): Promise<Finding[]> {
  const found = await stat(dataDir).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error) return String(error.code)
    throw error
  })
  if (found === 'ENOENT') {
    return [
      unknown('data', `There is no data directory ${dataDir}. "lade serve" creates it; --data-dir chooses another.`),
    ]
  }
  if (typeof found === 'string') return [broken('data', `Cannot read the data directory ${dataDir} (${found}).`)]
  if (!found.isDirectory()) return [broken('data', `The data directory ${dataDir} is a file.`)]
  const isMine = process.getuid === undefined || process.getuid() === found.uid
  return [
    ...(await checkWriting(dataDir, isMine)),
    await checkRoom(dataDir, minFreeBytes),
    await checkKind(dataDir, platform),
  ]
}

async function checkWriting(dataDir: string, isMine: boolean): Promise<Finding[]> {
  const path = join(dataDir, `doctor.${randomBytes(6).toString('hex')}.tmp`)
  let file: FileHandle
  try {
    file = await open(path, 'wx', 0o600)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    const sentence = `${dataDir} is not writable by this user (${error.code}).`
    return [
      isMine ? broken('data', sentence) : warning('data', `${sentence} Run this command as the user of the service.`),
    ]
  }
  const findings = [ok('data', `${dataDir} is writable.`)]
  try {
    await file.writeFile('lade')
    const startedMs = performance.now()
    await file.sync()
    await syncFolder(dataDir)
    findings.push(ok('fsync', `fsync works there and took ${(performance.now() - startedMs).toFixed(1)} ms.`))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    findings.push(broken('fsync', `fsync fails there (${error.code}), so files would not survive a power cut.`))
  } finally {
    await file.close()
    await rm(path, { force: true })
  }
  return findings
}

async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, 'r')
  await handle.sync()
}

async function checkRoom(dataDir: string, minFreeBytes: number): Promise<Finding> {
  const { bavail, bsize, blocks } = await statfs(dataDir)
  const free = `${formatBytes(bavail * bsize)} of ${formatBytes(blocks * bsize)} are free`
  return bavail * bsize < minFreeBytes
    ? broken('room', `${free}. Uploads are refused: LADE_MIN_FREE_MB requires ${formatBytes(minFreeBytes)}.`)
    : ok('room', `${free}. Uploads are refused below ${formatBytes(minFreeBytes)}.`)
}

async function checkKind(dataDir: string, platform: NodeJS.Platform): Promise<Finding> {
  const { name, concern } = fileSystemKind((await statfs(dataDir)).type, platform)
  if (name === undefined) return unknown('fileSystem', 'Its file system type is unknown.')
  return concern === undefined
    ? ok('fileSystem', `It is on ${name}.`)
    : warning('fileSystem', `It is on ${name}, ${concern}. Use a local disk.`)
}
