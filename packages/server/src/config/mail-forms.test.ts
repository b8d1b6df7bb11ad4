import { describe, expect, it } from 'vitest'
import { mailFromForm, smtpForm } from './mail-forms.ts'

const server = (text: string) => smtpForm.schema.safeParse(text).data
const sender = (text: string) => mailFromForm.schema.safeParse(text).data

describe('smtpForm', () => {
  it.each([
    ['smtp://mail.example', 'mail.example', 587, false],
    ['smtps://Mail.Example', 'mail.example', 465, true],
    ['smtp://127.0.0.1:25', '127.0.0.1', 25, false],
    ['smtp://[::1]:2525/', '::1', 2525, false],
  ])('reads %s', (text, host, port, isTls) => {
    expect(server(text)).toEqual({ host, port, isTls })
  })

  it('decodes user and password, and shows the password to nobody', () => {
    const { credentials } = server('smtp://ada%40mail.example:p%3Ass%2F@mail.example') ?? {}
    expect(credentials?.user).toBe('ada@mail.example')
    expect(credentials?.password.reveal()).toBe('p:ss/')
    expect(JSON.stringify(credentials)).not.toContain('p:ss')
  })

  it.each([
    'mail.example',
    'http://mail.example',
    'smtp://',
    'smtp://:25',
    'smtp://mail.example:0',
    'smtp://mail.example:65536',
    'smtp://ada@mail.example',
    'smtp://:secret@mail.example',
    'smtp://ada:%0d%0a@mail.example',
    'smtp://ada:%ff@mail.example',
    'smtp://mail.example/path',
    'smtp://mail.example?pool=true',
    'smtp://mail.example#top',
    'smtp://mail_.example',
    'smtp://mail.example ',
  ])('refuses %s', (text) => {
    expect(server(text)).toBeUndefined()
  })
})

describe('mailFromForm', () => {
  it.each([
    ['lade@mail.example', { address: 'lade@mail.example' }],
    ['Lade <lade@mail.example>', { name: 'Lade', address: 'lade@mail.example' }],
    ['Lädchen, Köln <lade@mail.example>', { name: 'Lädchen, Köln', address: 'lade@mail.example' }],
    ['<lade@localhost>', undefined],
    ['lade@localhost', { address: 'lade@localhost' }],
  ])('reads %j', (text, expected) => {
    expect(sender(text)).toEqual(expected)
  })

  it.each([
    'lade',
    'lade@',
    '@mail.example',
    'a@b@c.example',
    'Lade lade@mail.example',
    'Lade <lade@mail.example',
    'Lade\r\nBcc: x@mail.example <lade@mail.example>',
    'lade@mail.example\r\nBcc: x@mail.example',
    'Lade <a@b.co> <c@d.co>',
    'la,de@mail.example',
  ])('refuses %j', (text) => {
    expect(sender(text)).toBeUndefined()
  })
})
