import type { Mail } from '../mail/mailer.ts'

/**
 * The mail that carries a code.
 *
 * Nothing in it was chosen by whoever asked for it, but the address itself: anybody can make the service write to anybody,
 * and a label would be a line for them to fill.
 */
export function loginCodeMail(facts: { to: string; code: string; publicUrl: string; minutes: number }): Mail {
  const { to, code, publicUrl, minutes } = facts
  return {
    to,
    subject: `Your code for ${new URL(publicUrl).host}`,
    text: [
      `Somebody, probably you, requested a token for ${to} at`,
      publicUrl,
      '',
      `The code is ${code}`,
      '',
      `It is valid for ${minutes} minutes and works once. Do not share it with anyone`,
      'who asks for it.',
      '',
      'If it was not you, ignore this mail. Nothing happens without the code.',
      '',
    ].join('\n'),
  }
}
