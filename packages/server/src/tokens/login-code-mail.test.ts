import { expect, it } from 'vitest'
import { loginCodeMail } from './login-code-mail.ts'

it('says who writes, what the code is, how long it is good for, and that it can be ignored', () => {
  const mail = loginCodeMail({
    to: 'ada@example.org',
    code: '012345',
    publicUrl: 'https://lade.example/sub',
    minutes: 15,
  })
  expect(mail.to).toBe('ada@example.org')
  expect(mail.subject).toBe('Your code for lade.example')
  expect(mail.text).toMatchInlineSnapshot(`
    "Somebody, probably you, requested a token for ada@example.org at
    https://lade.example/sub

    The code is 012345

    It is valid for 15 minutes and works once. Do not share it with anyone
    who asks for it.

    If it was not you, ignore this mail. Nothing happens without the code.
    "
  `)
})
