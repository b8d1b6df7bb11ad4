import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { LadeError } from '@lade/core/errors'
import { Gauge, type Registry } from 'prom-client'
import type { Config } from '../config/config.ts'
import type { RecordStore } from '../records/record-store.ts'

/** What the metrics of disks are read from. */
export interface DiskMetricsSource {
  readonly config: Pick<Config, 'database' | 'storage'>
  readonly records: Pick<RecordStore, 'disk' | 'check'>
}

/** Adds the room on the disks of the records and the objects, as far as they are on disks of this machine, and whether the records can be written. */
export function diskMetrics(registry: Registry, { config, records }: DiskMetricsSource): void {
  const registers = [registry]
  const inodes = new Gauge({
    name: 'lade_disk_free_inodes',
    help: 'Free inodes of the disk; absent if the file system does not count inodes.',
    labelNames: ['disk'],
    registers,
  })
  const sizes = new Gauge({
    name: 'lade_disk_size_bytes',
    help: 'Size of the disk in bytes.',
    labelNames: ['disk'],
    registers,
  })
  new Gauge({
    name: 'lade_disk_free_bytes',
    help: 'Free bytes of the disk. Uploads are refused below LADE_MIN_FREE_MB.',
    labelNames: ['disk'],
    registers,
    async collect() {
      this.reset()
      inodes.reset()
      sizes.reset()
      for (const { disk, path } of pathsOf(config)) {
        // A disk that cannot be asked has no number; /readyz says that it fails.
        const found = await statfs(path).catch(() => undefined)
        if (found === undefined) continue
        this.set({ disk }, found.bavail * found.bsize)
        sizes.set({ disk }, found.blocks * found.bsize)
        if (found.files > 0) inodes.set({ disk }, found.ffree)
      }
    },
  })
  new Gauge({
    name: 'lade_read_only',
    help: '1 while the records are read-only or their disk is full; otherwise 0.',
    registers,
    async collect() {
      this.set((await isReadOnly(records)) ? 1 : 0)
    },
  })
  if (records.disk === undefined) return
  new Gauge({
    name: 'lade_reserve_bytes',
    help: 'Bytes reserved on the disk of the records, released when the disk is full.',
    registers,
    collect() {
      this.set(records.disk?.reserveBytes() ?? 0)
    },
  })
}

function pathsOf({ database, storage }: DiskMetricsSource['config']): { disk: string; path: string }[] {
  return [
    ...(database.kind === 'sqlite' ? [{ disk: 'records', path: dirname(database.file) }] : []),
    ...(storage.kind === 'file' ? [{ disk: 'objects', path: storage.dir }] : []),
  ]
}

async function isReadOnly({ disk, check }: DiskMetricsSource['records']): Promise<boolean> {
  if (disk !== undefined) return disk.state() !== 'writable'
  return check().then(
    () => false,
    (error: unknown) => LadeError.has(error, 'read_only'),
  )
}
