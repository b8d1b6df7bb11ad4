import { close, constants, fsync, open, rename, write } from 'node:fs'
import { promisify } from 'node:util'

const openFile = promisify(open)
const writeFile = promisify(write)
const syncFile = promisify(fsync)
const closeFile = promisify(close)
const renameFile = promisify(rename)

/**
 * Stores `bytes` as a file of its own, durably: create, write, fsync, rename to `name`, fsync of the directory.
 *
 * @param directory - an open descriptor of `dir`, kept open over all objects: the cheapest way.
 */
export async function storeDurably(dir: string, directory: number, name: string, bytes: Uint8Array): Promise<void> {
  const pending = `${dir}/.${name}`
  const descriptor = await openFile(pending, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o600)
  const { bytesWritten } = await writeFile(descriptor, bytes, 0, bytes.length, 0)
  if (bytesWritten !== bytes.length) throw new Error('a write was cut short')
  await syncFile(descriptor)
  await closeFile(descriptor)
  await renameFile(pending, `${dir}/${name}`)
  await syncFile(directory)
}
