import { closeSync, ftruncateSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { run, unmount } from './mount.ts'
import { tempDirectory } from './temp-directory.ts'

const DISK_BYTES = 512 * 1024 * 1024

/** A disk whose power can be cut: an ext4 file system on a loop device. */
export interface PowerCutDisk {
  /** Where it is mounted. */
  readonly path: string
  /**
   * Cuts the power: nothing that is not on the disk now will ever be, and every later write fails. The programs that
   * use it run on, until they are ended by whoever started them.
   */
  cut(): void
  /** Mounts it again, as after a restart; the file system recovers from its journal. Nobody may have files open. */
  mountAgain(): void
}

/** Makes such a disk for the running test. */
export function powerCutDisk(): PowerCutDisk {
  const directory = tempDirectory()
  const image = join(directory, 'disk.img')
  const path = join(directory, 'disk')
  const fd = openSync(image, 'w')
  ftruncateSync(fd, DISK_BYTES)
  closeSync(fd)
  mkdirSync(path)
  run('mkfs.ext4', '-qF', image)
  const device = run('losetup', '--find', '--show', image)
  onTestFinished(() => void run('losetup', '--detach', device))
  run('mount', device, path)
  onTestFinished(() => unmount(path))
  return {
    path,
    // Without -f the journal is not flushed first: that is the point.
    cut: () => void run('xfs_io', '-x', '-c', 'shutdown', path),
    mountAgain() {
      run('umount', path)
      run('mount', device, path)
    },
  }
}
