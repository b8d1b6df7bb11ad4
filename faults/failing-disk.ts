import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { until } from '../services/until.ts'
import { loopDevices, mounting, pathOf, program, type ScenarioNeed } from './harness.ts'
import { run, unmount } from './mount.ts'
import { tempDirectory } from './temp-directory.ts'

/** How long a tool may take to begin, or a killed process to let go of a file system. */
const START_MS = 10_000

export type FileSystem = 'ext4' | 'xfs'

/** What a {@link failingDisk} needs of the machine. */
export const FAILING_DISK_NEEDS: readonly ScenarioNeed[] = [
  mounting,
  loopDevices,
  program('losetup', 'mount'),
  program('mkfs.ext4', 'e2fsprogs'),
  program('mkfs.xfs', 'xfsprogs'),
  program('nbdkit', 'nbdkit'),
  program('nbdfuse', 'libnbd-bin'),
]

/** A disk whose writes can be made to fail, and whose power can be cut. */
export interface FailingDisk {
  /** Where it is mounted. */
  readonly path: string
  /** From now on the disk takes no write: EIO. Reads go on. */
  fail(): void
  /** The disk takes writes again. */
  recover(): void
  /** False when the file system has given up because its own writes failed; then only `mountAgain` helps. */
  isWritable(): boolean
  /** Cuts the power: nothing that is not on the disk now will ever be, and every later write fails. */
  cut(): void
  /** Mounts it again, as after a restart; the file system recovers from its journal. Waits for the end of processes that were killed. */
  mountAgain(): Promise<void>
}

/** Makes such a disk, in memory, for the running test: nbdkit with its error filter, nbdfuse, a loop device, a file system. */
export async function failingDisk(fileSystem: FileSystem): Promise<FailingDisk> {
  const directory = tempDirectory()
  const [trigger, socket, image, path] = ['trigger', 'socket', 'image', 'disk'].map((name) =>
    join(directory, name),
  ) as [string, string, string, string]
  writeFileSync(image, '')
  mkdirSync(path)
  const errors = ['error=EIO', 'error-pwrite-rate=100%', `error-file=${trigger}`]
  const server = start('nbdkit', ['-f', '-U', socket, '--filter=error', 'memory', '512M', ...errors])
  await until('nbdkit listens', START_MS, () => existsSync(socket))
  const fuse = start('nbdfuse', [image, `nbd+unix:///?socket=${socket}`])
  await until('nbdfuse shows a disk', START_MS, () => statSync(image).size > 0)
  onTestFinished(async () => {
    await unmounted(image)
    await ended(fuse)
    server.kill('SIGTERM')
    await ended(server)
  })
  run(`mkfs.${fileSystem}`, '-q', fileSystem === 'ext4' ? '-F' : '-f', image)
  const device = run('losetup', '--find', '--show', image)
  onTestFinished(() => void run('losetup', '--detach', device))
  run('mount', device, path)
  onTestFinished(() => unmount(path))
  onTestFinished(() => rmSync(trigger, { force: true }))
  return {
    path,
    fail: () => writeFileSync(trigger, ''),
    recover: () => rmSync(trigger, { force: true }),
    isWritable: () => takesWrites(join(path, 'probe')),
    // Without -f the journal is not flushed first: that is the point.
    cut: () => void run('xfs_io', '-x', '-c', 'shutdown', path),
    async mountAgain() {
      await unmounted(path)
      run('mount', device, path)
    },
  }
}

/** The last thread of a process that was killed may have to end a write first. */
async function unmounted(path: string): Promise<void> {
  await until(`${path} can be unmounted`, START_MS, () => {
    try {
      run('umount', path)
      return true
    } catch (error) {
      if (String(error).includes('busy')) return false
      throw error
    }
  })
}

function start(name: string, args: readonly string[]): ChildProcess {
  return spawn(pathOf(name) ?? name, args, { stdio: 'ignore' })
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await new Promise((resolve) => child.once('exit', resolve))
}

function takesWrites(file: string): boolean {
  try {
    const fd = openSync(file, 'w')
    try {
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    rmSync(file)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false
    throw error
  }
}
