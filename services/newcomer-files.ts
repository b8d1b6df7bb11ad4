import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32, deflateSync } from 'node:zlib'

/** How many small files there are. */
export const SMALL_FILES = 200
const [WIDTH, HEIGHT] = [480, 270]

/** The sun above the sea, as PNG. */
export const PICTURE = pngOf((x, y) => {
  if (Math.hypot(x - 350, y - 80) < 38) return [246, 196, 83]
  if (y > 180) return [30 + (y - 180) / 3, 90 + 20 * Math.sin(x / 18 + y / 7), 140]
  return [150 + y / 3, 195 + y / 6, 235]
})

/** @returns where it is. */
export function writeFile(folder: string, name: string, bytes: Uint8Array): string {
  const path = join(folder, name)
  writeFileSync(path, bytes)
  return path
}

/** A picture, `harbour.png`, among notes. @returns where they are. */
export function writeSmallFiles(folder: string): readonly string[] {
  const notes = Array.from({ length: SMALL_FILES - 1 }, (_, at) =>
    writeFile(folder, `note-${at}.txt`, Buffer.from(`Note ${at}\n\n${randomBytes(300).toString('base64')}\n`)),
  )
  return [writeFile(folder, 'harbour.png', PICTURE), ...notes]
}

function pngOf(colorOf: (x: number, y: number) => readonly number[]): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(WIDTH, 0)
  header.writeUInt32BE(HEIGHT, 4)
  // Eight bits for each of red, green and blue.
  header.set([8, 2], 8)
  const rows = Array.from({ length: HEIGHT }, (_, y) => [
    0,
    ...Array.from({ length: WIDTH }, (_, x) => colorOf(x, y)).flat(),
  ])
  const chunks = [chunkOf('IHDR', header), chunkOf('IDAT', deflateSync(Buffer.from(rows.flat()))), chunkOf('IEND')]
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...chunks])
}

function chunkOf(type: string, data: Uint8Array = Buffer.alloc(0)): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const chunk = Buffer.alloc(body.length + 8)
  chunk.writeUInt32BE(data.length, 0)
  chunk.set(body, 4)
  chunk.writeUInt32BE(crc32(body), body.length + 4)
  return chunk
}
