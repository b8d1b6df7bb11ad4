import { setTimeout as delay } from 'node:timers/promises'
import { styleText } from 'node:util'

/** What was expected and is not so; its message is a sentence. */
export class NotSo extends Error {
  override readonly name = 'NotSo'
}

const POLL_MS = 200
const begun = performance.now()
let steps = 0

const set = (format: 'bold' | 'dim' | 'green') => (text: string) => styleText(format, text, { stream: process.stdout })
const [bold, faint, green] = [set('bold'), set('dim'), set('green')]

/** Begins a step of the walk. */
export function step(title: string): void {
  steps += 1
  const seconds = ((performance.now() - begun) / 1000).toFixed(1)
  console.log(`\n${bold(`${steps}. ${title}`)} ${faint(`${seconds} s`)}`)
}

/** Says what happens. */
export function say(text: string): void {
  console.log(`   ${text}`)
}

/** Shows facts, one below the other. */
export function show(facts: Readonly<Record<string, string | number | bigint>>): void {
  const width = Math.max(...Object.keys(facts).map((name) => name.length))
  for (const [name, value] of Object.entries(facts)) say(`  ${faint(name.padEnd(width))}  ${value}`)
}

/** Goes on if it is so, and says it. @throws {NotSo} otherwise. */
export function check(isSo: boolean, sentence: string): asserts isSo {
  if (!isSo) throw new NotSo(`It is not so: ${sentence}`)
  say(`${green('✓')} ${sentence}`)
}

/**
 * Asks again and again until there is an answer.
 *
 * @param what - what is waited for, as the end of "Waited in vain for".
 * @throws {NotSo} when there is none in time.
 */
export async function until<Value>(
  what: string,
  seconds: number,
  ask: () => Promise<Value | undefined>,
): Promise<Value> {
  for (const deadline = performance.now() + seconds * 1000; performance.now() < deadline; await delay(POLL_MS)) {
    const found = await ask()
    if (found !== undefined) return found
  }
  throw new NotSo(`Waited ${seconds} seconds in vain for ${what}.`)
}
