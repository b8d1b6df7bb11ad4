import { describe, expect, it } from 'vitest'
import { Interrupted } from './exit-code.ts'
import { ask, canAsk, confirm, readAll } from './prompt.ts'
import { testTerminal } from './testing-terminal.ts'

const typing = (input: string) => testTerminal({ columns: 80, input })

describe('ask', () => {
  it('shows the question on standard error and gives back the line', async () => {
    const { terminal, stdout, stderr } = typing(' https://lade.example \r')
    expect(await ask(terminal, 'Service: ')).toBe('https://lade.example')
    expect(stderr()).toContain('Service: ')
    expect(stdout()).toBe('')
  })

  it('shows nothing of a secret', async () => {
    const { terminal, stdout, stderr } = typing('hunter2\r')
    expect(await ask(terminal, 'Token: ', { isHidden: true })).toBe('hunter2')
    expect(stderr()).toBe('Token: \n')
    expect(stdout()).toBe('')
  })

  it('ends with Ctrl-C, and with the end of the input', async () => {
    await expect(ask(typing('abc\x03').terminal, 'Token: ')).rejects.toThrow(Interrupted)
    expect(await ask(typing('\x04').terminal, 'Token: ')).toBe('')
  })
})

describe('confirm', () => {
  it.each([
    ['y\r', true],
    ['YES\r', true],
    ['n\r', false],
    ['\r', false],
    ['yet\r', false],
    ['\x04', false],
  ])('takes %j for %s', async (input, answer) => {
    expect(await confirm(typing(input).terminal, 'Remove it?')).toBe(answer)
  })
})

describe('canAsk and readAll', () => {
  it('ask where there is a terminal, and read what is piped in', async () => {
    expect(canAsk(typing('').terminal)).toBe(true)
    const { terminal } = testTerminal({ input: 'pk_live_a\n' })
    expect(canAsk(terminal)).toBe(false)
    expect(await readAll(terminal)).toBe('pk_live_a\n')
  })
})
