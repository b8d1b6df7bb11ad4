import { getDomain } from 'tldts'

/**
 * True for hosts that browsers take for one site: of one registrable domain, or the same name. A cookie of one is then sent with what pages
 * of the other ask for, and each can set cookies for both. The port makes no difference.
 *
 * @example
 * isSameSite('https://lade.example.org', 'https://files.example.org') // true
 * isSameSite('https://ada.github.io', 'https://bob.github.io') // false
 */
export function isSameSite(one: string, other: string): boolean {
  const [name, otherName] = [new URL(one).hostname, new URL(other).hostname]
  if (name === otherName) return true
  const domain = getDomain(name, { allowPrivateDomains: true })
  return domain !== null && domain === getDomain(otherName, { allowPrivateDomains: true })
}
