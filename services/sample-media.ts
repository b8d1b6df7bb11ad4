import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openTempHome } from './temp-home.ts'

/** A file that a person might upload. */
export interface Sample {
  readonly name: string
  readonly contentType: string
  readonly bytes: Buffer
}

const PICTURE = ['-f', 'lavfi', '-i', 'testsrc=size=320x240:rate=10:duration=2']
const TONE = ['-f', 'lavfi', '-i', 'sine=frequency=440:duration=2']
const FILM = [...PICTURE, ...TONE]

/** What ffmpeg makes each file of. An MP4 has its index at the end, so that players have to read that first. */
const MADE: readonly (readonly [name: string, contentType: string, args: readonly string[]])[] = [
  ['picture.png', 'image/png', [...PICTURE, '-frames:v', '1']],
  ['picture.jpg', 'image/jpeg', [...PICTURE, '-frames:v', '1']],
  ['film.mp4', 'video/mp4', [...FILM, '-c:v', 'libx264', '-pix_fmt', 'yuv420p', '-c:a', 'aac']],
  ['film.webm', 'video/webm', [...FILM, '-c:v', 'libvpx', '-c:a', 'libvorbis']],
  ['tone.mp3', 'audio/mpeg', [...TONE, '-c:a', 'libmp3lame']],
  ['tone.ogg', 'audio/ogg', [...TONE, '-c:a', 'libvorbis']],
]

const TEXT = 'Viele Grüße aus Köln – 日本'
const DRAWING =
  '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="100"><rect width="200" height="100" fill="green"/></svg>'
const PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><title>page</title>
<style>h1 { color: rgb(0, 128, 0) }</style>
<h1>Grüße</h1>
<img id="own" alt="" src="data:image/svg+xml;base64,${Buffer.from(DRAWING).toString('base64')}">
<p id="said">The script did not run.</p>
<script>
document.getElementById('said').textContent = 'The script ran.'
try { localStorage.setItem('a', 'b'); document.title = 'has storage' } catch { document.title = 'has no storage' }
</script></html>`

/** One of each kind. */
export function makeSamples(): readonly Sample[] {
  const home = openTempHome('samples')
  try {
    const media = MADE.map(([name, contentType, args]) => {
      const file = join(home.path, name)
      execFileSync('ffmpeg', ['-hide_banner', '-loglevel', 'error', '-y', ...args, file])
      return { name, contentType, bytes: readFileSync(file) }
    })
    return [
      ...media,
      { name: 'greeting.txt', contentType: 'text/plain; charset=utf-8', bytes: Buffer.from(TEXT) },
      { name: 'notes.md', contentType: 'text/markdown; charset=utf-8', bytes: Buffer.from(`# ${TEXT}\n`) },
      { name: 'data.json', contentType: 'application/json', bytes: Buffer.from(JSON.stringify({ text: TEXT })) },
      { name: 'drawing.svg', contentType: 'image/svg+xml', bytes: Buffer.from(DRAWING) },
      { name: 'page.html', contentType: 'text/html; charset=utf-8', bytes: Buffer.from(PAGE) },
      { name: 'letter.pdf', contentType: 'application/pdf', bytes: pdfOf('A letter for the viewer') },
    ]
  } finally {
    home.discard()
  }
}

/** A document of one page with one line. */
function pdfOf(line: string): Buffer {
  const content = `BT /F1 24 Tf 40 100 Td (${line}) Tj ET`
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 200]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>',
    `<</Length ${content.length}>>stream\n${content}\nendstream`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
  ]
  let text = '%PDF-1.4\n'
  const offsets = objects.map((object, index) => {
    const offset = text.length
    text += `${index + 1} 0 obj${object}endobj\n`
    return offset
  })
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  const size = objects.length + 1
  return Buffer.from(
    `${text}xref\n0 ${size}\n0000000000 65535 f \n${rows}trailer<</Size ${size}/Root 1 0 R>>\nstartxref\n${text.length}\n%%EOF\n`,
  )
}
