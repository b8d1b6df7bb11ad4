import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { Interrupted } from './exit-code.ts'
import type { Terminal } from './terminal.ts'

/** True where somebody can be asked: the keyboard and the screen are both there. */
export function canAsk({ stdin, stderr }: Terminal): boolean {
  return stdin.isTTY === true && stderr.isTTY === true
}

/**
 * Asks for one line, on standard error, so that standard output stays what the command was asked for.
 *
 * @param options.isHidden - what is typed is not shown, for secrets.
 * @returns the line, but for a secret without the white space around it; empty when the input ended.
 * @throws {Interrupted} on Ctrl-C.
 */
export function ask(
  terminal: Terminal,
  question: string,
  { isHidden = false }: { readonly isHidden?: boolean } = {},
): Promise<string> {
  const { stdin, stderr } = terminal
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const output = isHidden ? nowhere : stderr
  const reader = createInterface({ input: stdin, output, terminal: true, historySize: 0, prompt: question })
  // Readline writes the question where it echoes, which is nowhere for a secret.
  if (isHidden) stderr.write(question)
  reader.prompt()
  return new Promise((resolve, reject) => {
    reader.on('line', (line) => {
      if (isHidden) stderr.write('\n')
      resolve(isHidden ? line : line.trim())
      reader.close()
    })
    reader.on('SIGINT', () => {
      stderr.write('\n')
      reject(new Interrupted())
      reader.close()
    })
    reader.on('close', () => resolve(''))
  })
}

/** Asks whether to go on; anything but yes is no. */
export async function confirm(terminal: Terminal, question: string): Promise<boolean> {
  return /^y(?:es)?$/i.test(await ask(terminal, `${question} [y/N] `))
}

/** All of standard input as text, for secrets that are piped in. */
export async function readAll({ stdin }: Terminal): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString('utf8')
}
