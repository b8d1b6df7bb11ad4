/**
 * A sha2-256 as the digest fields of HTTP write it (RFC 9530).
 *
 * @param sha256 - 64 hex digits.
 *
 * @example
 * digestField('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
 * // 'sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:'
 */
export function digestField(sha256: string): string {
  return `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`
}
