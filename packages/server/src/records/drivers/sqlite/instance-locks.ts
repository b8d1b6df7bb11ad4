import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { InstanceLocks } from '../../instance-locks.ts'
import { isAbsent } from './absence.ts'

/**
 * Locks of the operating system, one file an instance, taken through SQLite, which knows how on every platform. The
 * kernel lets go of them when the process dies, so nothing depends on clocks, process ids or a clean end.
 *
 * @param options.dir - a folder of its own on a local file system; made when missing.
 */
export function openInstanceLocks(options: { readonly dir: string }): InstanceLocks {
  // On a disk that takes no writes nobody holds a lock there before it takes them again, and then the folder is made.
  unlessUnwritable(() => mkdirSync(options.dir, { recursive: true }))
  const fileOf = (instanceId: string): string => join(options.dir, `${instanceId}.lock`)

  return {
    async hold(instanceId) {
      mkdirSync(options.dir, { recursive: true })
      const lock = new Database(fileOf(instanceId), { timeout: 0 })
      try {
        lock.exec('BEGIN EXCLUSIVE')
      } catch (error) {
        lock.close()
        throw error
      }
      return {
        async release() {
          if (!lock.open) return
          lock.close()
          unlessUnwritable(() => rmSync(fileOf(instanceId), { force: true }))
        },
      }
    },
    async isHeld(instanceId) {
      let lock: Database.Database
      try {
        lock = new Database(fileOf(instanceId), { timeout: 0, fileMustExist: true })
      } catch (error) {
        // SQLite says the same when there are no file descriptors left, or no memory: only a missing file is a missing holder.
        if (isAbsent(fileOf(instanceId))) return false
        throw error
      }
      try {
        lock.exec('BEGIN EXCLUSIVE')
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY') return true
        throw error
      } finally {
        lock.close()
      }
      rmSync(fileOf(instanceId), { force: true })
      return false
    },
  }
}

function unlessUnwritable(change: () => void): void {
  try {
    change()
  } catch (error) {
    const isUnwritable = error instanceof Error && 'code' in error && /^(EROFS|ENOSPC|EDQUOT)$/.test(String(error.code))
    if (!isUnwritable) throw error
  }
}
