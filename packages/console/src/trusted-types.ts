/** What is used here of Trusted Types; not every browser has them. */
interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(url: string): string | null }): unknown
}

const OWN_FOLDER = `${location.origin}/console/`

/**
 * Lets this page start workers from its own folder, and turn no other text into code: the policy has no rule for HTML and none for scripts,
 * which are refused then.
 */
export function restrictCode(): void {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes }
  trustedTypes?.createPolicy('default', {
    createScriptURL: (url) => (new URL(url, location.href).href.startsWith(OWN_FOLDER) ? url : null),
  })
}
