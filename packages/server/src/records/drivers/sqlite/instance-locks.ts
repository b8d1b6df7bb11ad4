import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { InstanceLocks } from '../../instance-locks.ts'

/**
 * Locks of the operating system, one file an instance, taken through SQLite, which knows how on every platform. The
 * kernel lets go of them when the process dies, so nothing depends on clocks, process ids or a clean end.
 *
 * @param options.dir - a folder of its own on a local file system; made when missing.
 */
export function openInstanceLocks(options: { readonly dir: string }): InstanceLocks {
  mkdirSync(options.dir, { recursive: true })
  const fileOf = (instanceId: string): string => join(options.dir, `${instanceId}.lock`)

  return {
    async hold(instanceId) {
      const lock = new Database(fileOf(instanceId), { timeout: 0 })
      lock.exec('BEGIN EXCLUSIVE')
      return {
        async release() {
          if (!lock.open) return
          lock.close()
          rmSync(fileOf(instanceId), { force: true })
        },
      }
    },
    async isHeld(instanceId) {
      let lock: Database.Database
      try {
        lock = new Database(fileOf(instanceId), { timeout: 0, fileMustExist: true })
      } catch (error) {
        // The file is gone with its holder.
        if (error instanceof Error && 'code' in error && error.code === 'SQLITE_CANTOPEN') return false
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
