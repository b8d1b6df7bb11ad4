import { describe, expect, it } from 'vitest'
import { readWalletSignature } from './signature-input.ts'
import { ALICE } from './testing-wallets.ts'

const KEY_ID = `erc8128:8453:${ALICE.address.toLowerCase()}`
const PARAMETERS = `;created=1;expires=2;nonce="n";keyid="${KEY_ID}"`
const COVERED = '("@method" "@path")'

const read = (signatureInput: string | undefined, signature: string | undefined = 'eth=:AA==:') =>
  readWalletSignature({ signatureInput, signature })
const refusalOf = (signatureInput: string, signature?: string) => {
  try {
    read(signatureInput, signature)
  } catch (error) {
    expect(error).toMatchObject({ code: 'invalid_signature' })
    return (error as { evidence: { reason: string } }).evidence.reason
  }
  throw new Error('it was taken')
}

describe('readWalletSignature', () => {
  it('reads who signed, what is covered, when, and the bytes', () => {
    expect(read(`eth=${COVERED}${PARAMETERS}`)).toEqual({
      wallet: { chainId: 8453, address: ALICE.address },
      components: ['@method', '@path'],
      created: 1,
      expires: 2,
      nonce: 'n',
      signatureParams: `${COVERED}${PARAMETERS}`,
      signature: new Uint8Array(1),
    })
  })

  it.each([
    [undefined, undefined],
    ['', ''],
    ['proxy=("@method");created=1;keyid="rsa-1"', 'proxy=:AA==:'],
    ['proxy=("@method");keyid="xerc8128:1"', 'proxy=:AA==:'],
    ['sig1=("@method")', 'sig1=:AA==:'],
  ])('finds nothing of a wallet in %j', (input, signature) => {
    expect(read(input, signature)).toBeUndefined()
  })

  it('finds the one of a wallet among those of others, whatever it is called', () => {
    const others = 'a=("@method");keyid="x", b=1'
    const signatures = 'a=:AAAA:, eth=:AQ==:, sig1=:Ag==:'
    expect(read(`${others}, eth=${COVERED}${PARAMETERS}`, signatures)?.signature).toEqual(Uint8Array.of(1))
    expect(read(`sig1=${COVERED}${PARAMETERS}, ${others}`, signatures)?.signature).toEqual(Uint8Array.of(2))
  })

  it('refuses two of wallets', () => {
    for (const second of ['sig1', 'a']) {
      expect(refusalOf(`eth=${COVERED}${PARAMETERS}, ${second}=${COVERED}${PARAMETERS}`)).toMatch(
        /^The request has two wallet signatures/,
      )
    }
    expect(refusalOf(`eth=${COVERED};keyid="other", sig1=${COVERED}${PARAMETERS}`)).toMatch(
      /^The request has two wallet signatures/,
    )
  })

  it.each([
    `eth=${COVERED}${PARAMETERS}, eth=${COVERED}${PARAMETERS}`,
    `eth=${COVERED};created=1${PARAMETERS}`,
    `eth=${COVERED};created=01;expires=2;nonce="n";keyid="${KEY_ID}"`,
    `eth=${COVERED}${PARAMETERS},`,
    `eth=(${COVERED}${PARAMETERS}`,
    `eth=("@method" "@path"${PARAMETERS}`,
    `eth=("@method""@path")${PARAMETERS}`,
    `ETH=${COVERED}${PARAMETERS}`,
    `eth=${COVERED};created=1.0;expires=2;nonce="n";keyid="${KEY_ID}"`,
    `eth=${COVERED}${PARAMETERS};tag=?1`,
    'eth=("@method\u00e9")',
    '=',
  ])('refuses what is not a dictionary in its one spelling: %s', (input) => {
    expect(refusalOf(input)).toBe('Signature-Input is not a valid dictionary with unique members.')
  })

  it.each([
    ['eth', 'The member eth of Signature-Input has no components.'],
    ['eth="x"', 'The member eth of Signature-Input has no components.'],
    [`eth=("@method" "@method")${PARAMETERS}`, 'The signature covers a component twice.'],
    [`eth=(method)${PARAMETERS}`, 'The name of a component must be a string.'],
    [`eth=(1)${PARAMETERS}`, 'The name of a component must be a string.'],
    ...['sf', 'bs', 'req', 'tr', 'key="a"', 'name="a"'].map((parameter) => [
      `eth=("x-field";${parameter})${PARAMETERS}`,
      'The component x-field has a parameter; none are allowed.',
    ]),
  ])('refuses %s', (input, reason) => {
    expect(refusalOf(input ?? '')).toBe(reason)
  })

  const withParameter = (name: string, value: string | undefined) => {
    const others = { created: '1', expires: '2', nonce: '"n"', keyid: `"${KEY_ID}"`, [name]: value }
    const text = Object.entries(others).flatMap(([key, each]) => (each === undefined ? [] : [`;${key}=${each}`]))
    return refusalOf(`eth=${COVERED}${text.join('')}`)
  }

  it.each<[string, string | undefined, string]>([
    ['created', undefined, 'created is missing or not a time in whole seconds.'],
    ['created', '"1"', 'created is missing or not a time in whole seconds.'],
    ['created', '1.5', 'created is missing or not a time in whole seconds.'],
    ['created', '-1', 'created is missing or not a time in whole seconds.'],
    ['expires', undefined, 'expires is missing or not a time in whole seconds.'],
    ['nonce', undefined, 'nonce is missing or not a string of 1 to 128 characters.'],
    ['nonce', '""', 'nonce is missing or not a string of 1 to 128 characters.'],
    ['nonce', `"${'n'.repeat(129)}"`, 'nonce is missing or not a string of 1 to 128 characters.'],
    ['nonce', 'n', 'nonce is missing or not a string of 1 to 128 characters.'],
    ['nonce', ':AA==:', 'nonce is missing or not a string of 1 to 128 characters.'],
  ])('refuses %s=%s', (name, value, reason) => {
    expect(withParameter(name, value)).toBe(reason)
  })

  it.each([
    `erc8128:8453:${ALICE.address}`,
    `erc8128:8453:${ALICE.address.toUpperCase().replace('X', 'x')}`,
    `erc8128:8453:0X${ALICE.address.slice(2).toLowerCase()}`,
    `erc8128:8453:${ALICE.address.slice(2).toLowerCase()}`,
    `erc8128:8453:${ALICE.address.toLowerCase()}0`,
    `erc8128:08453:${ALICE.address.toLowerCase()}`,
    `erc8128:0:${ALICE.address.toLowerCase()}`,
    `erc8128:0x2105:${ALICE.address.toLowerCase()}`,
    `erc8128::${ALICE.address.toLowerCase()}`,
    `ERC8128:8453:${ALICE.address.toLowerCase()}`,
    `erc8128:8453:${ALICE.address.toLowerCase()} `,
    'erc8128:',
    'somebody',
  ])('refuses the key id %j', (keyId) => {
    expect(withParameter('keyid', `"${keyId}"`)).toMatch(/^keyid must be "erc8128:"/)
  })

  it('refuses no key id under the label of wallets', () => {
    expect(withParameter('keyid', undefined)).toMatch(/^keyid must be "erc8128:"/)
    expect(withParameter('keyid', '?1'.replace('?1', '1'))).toMatch(/^keyid must be "erc8128:"/)
  })

  it('refuses the zero address', () => {
    expect(withParameter('keyid', `"erc8128:8453:0x${'0'.repeat(40)}"`)).toBe('The zero address cannot sign.')
  })

  it.each([
    '',
    'eth',
    'eth="AA=="',
    'eth=AA',
    'eth=::',
    'other=:AA==:',
    'eth=:AA==:, eth=:AA==:',
    'eth=:AA:',
    'eth=:AB==:',
    'eth=:A-_=:',
    'eth=(:AA==:)',
  ])('refuses the Signature %j', (signature) => {
    expect(refusalOf(`eth=${COVERED}${PARAMETERS}`, signature)).toMatch(/^Signature has no bytes for the label eth/)
  })

  it('refuses a Signature that is not there', () => {
    expect(() => readWalletSignature({ signatureInput: `eth=${COVERED}${PARAMETERS}`, signature: undefined })).toThrow(
      expect.objectContaining({ code: 'invalid_signature' }),
    )
  })

  it('refuses more components than a request has', () => {
    const names = Array.from({ length: 65 }, (_, index) => `"x-${index}"`).join(' ')
    expect(refusalOf(`eth=(${names})${PARAMETERS}`)).toBe('The signature covers more than 64 components.')
  })
})
