/**
 * Writes the pages of `docs/` that repeat what the code says, or with `--check` fails when one of them has drifted.
 *
 * Why: a page of settings or error codes that is kept by hand is wrong within a month, and an operator who trusts it
 * finds out at the worst time.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ERROR_SENTENCES, type ErrorCode } from '@lade/core/errors'
import { configurationTable } from '@lade/server/config'
import { STATUS } from '@lade/server/problem'

const root = join(import.meta.dirname, '..')
const isCheck = process.argv.includes('--check')

const pages: Readonly<Record<string, string>> = {
  'docs/operate/configuration.md': [
    '# Settings',
    '',
    'Each is an environment variable and a flag of `lade serve`; the flag wins. A wrong value stops the start with one sentence.',
    '1 MB is 1,048,576 bytes. This page is written by `npm run docs`.',
    '',
    configurationTable().trim(),
    '',
  ].join('\n'),
  'docs/protocol/errors.md': [
    '# Errors',
    '',
    'Every error body is JSON: `error` (the code), `detail` (a sentence), the fields of RFC 9457 (`type`, `title`, `status`), `requestId`, and',
    'the evidence of the code. With `Accept: application/problem+json` it has that media type. Codes are added, never renamed. This page is',
    'written by `npm run docs`.',
    '',
    '| status | error | meaning |',
    '|---|---|---|',
    ...(Object.keys(ERROR_SENTENCES) as ErrorCode[])
      .toSorted((a, b) => STATUS[a] - STATUS[b] || a.localeCompare(b))
      .map((code) => `| ${STATUS[code]} | \`${code}\` | ${ERROR_SENTENCES[code]} |`),
    '',
  ].join('\n'),
}

for (const [path, text] of Object.entries(pages)) {
  const file = join(root, path)
  if (!isCheck) writeFileSync(file, text)
  else if (currentText(file) !== text) {
    console.error(`${path} does not say what the code says. Run "npm run docs".`)
    process.exitCode = 1
  }
}

function currentText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
