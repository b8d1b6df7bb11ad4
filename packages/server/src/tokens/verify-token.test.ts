import { createHmac } from 'node:crypto'
import { LadeError } from '@lade/core/errors'
import { describe, expect, it } from 'vitest'
import { mintToken } from './mint-token.ts'
import { claimsOf, forge, KEY_BYTES, NOW, NOW_SECONDS, testKey } from './testing-token-jwt.ts'
import { MAXIMUM_TOKEN_LENGTH } from './token-form.ts'
import { verifyToken } from './verify-token.ts'

const GOOD_HEADER = { alg: 'HS256', typ: 'JWT' }
const key = await testKey()
const verify = (token: string) => verifyToken(token, key, NOW)

/** The same error for every reason but an end that is over: no message, evidence or cause tells them apart. */
async function expectRefused(token: string): Promise<void> {
  const error: unknown = await verify(token).catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(LadeError)
  expect(error).toMatchObject({
    code: 'invalid_token',
    message: expect.stringMatching(/^The token (is damaged, or was signed with a key|expired on \d{4}-\d\d-\d\d at)/),
  })
  expect(error instanceof Error && error.cause).toBeUndefined()
}

const refusesEach = (title: string, tokens: Record<string, string>) =>
  it.each(Object.entries(tokens))(`refuses ${title}: %s`, (_, token) => expectRefused(token))

describe('mintToken', () => {
  it('writes the prefix, the exact header and the seven claims', async () => {
    const token = await mintToken(claimsOf(), key)
    expect(token.slice(0, 8)).toBe('pk_live_')
    const [header = '', payload = ''] = token.slice(8).split('.')
    expect(Buffer.from(header, 'base64url').toString()).toBe('{"alg":"HS256","typ":"JWT"}')
    expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toEqual(claimsOf())
  })

  it('is verified by any HS256 implementation', async () => {
    const token = await mintToken(claimsOf(), key)
    const cut = token.lastIndexOf('.')
    expect(createHmac('sha256', KEY_BYTES).update(token.slice(8, cut)).digest('base64url')).toBe(token.slice(cut + 1))
  })

  it('error: claims that would be refused are a TypeError', async () => {
    await expect(mintToken(claimsOf({ scopes: [] }), key)).rejects.toThrow(TypeError)
    await expect(mintToken(claimsOf({ jti: 'x' }), key)).rejects.toThrow(TypeError)
  })
})

describe('verifyToken', () => {
  it('gives back the claims that were minted', async () => {
    expect(await verify(await mintToken(claimsOf(), key))).toEqual(claimsOf())
  })

  it('accepts claims it does not know, and drops them', async () => {
    expect(await verify(forge(GOOD_HEADER, { ...claimsOf(), aud: 'x', iss: 'y', admin: true }))).toEqual(claimsOf())
  })

  it('accepts the header members in either order', async () => {
    expect(await verify(forge({ typ: 'JWT', alg: 'HS256' }, claimsOf()))).toEqual(claimsOf())
  })

  const header = (members: object | string) => forge(members, claimsOf())
  const alg = (value: unknown) => header({ ...GOOD_HEADER, alg: value })
  refusesEach('a header that is not exactly the one', {
    'alg none': alg('none'),
    'alg None': alg('None'),
    'alg NONE': alg('NONE'),
    'alg nOnE': alg('nOnE'),
    'alg empty': alg(''),
    'alg null': alg(null),
    'alg a list': alg(['HS256']),
    'alg hs256': alg('hs256'),
    'alg HS256 and a space': alg('HS256 '),
    'alg HS384': forge({ ...GOOD_HEADER, alg: 'HS384' }, claimsOf(), { hash: 'sha384' }),
    'alg HS512': forge({ ...GOOD_HEADER, alg: 'HS512' }, claimsOf(), { hash: 'sha512' }),
    'alg HS256 with an HS384 signature': forge(GOOD_HEADER, claimsOf(), { hash: 'sha384' }),
    'alg RS256': alg('RS256'),
    'alg ES256': alg('ES256'),
    'alg EdDSA': alg('EdDSA'),
    'alg dir': alg('dir'),
    'no alg': header({ typ: 'JWT' }),
    'no typ': header({ alg: 'HS256' }),
    'typ jwt': header({ ...GOOD_HEADER, typ: 'jwt' }),
    'typ at+jwt': header({ ...GOOD_HEADER, typ: 'at+jwt' }),
    'typ JOSE': header({ ...GOOD_HEADER, typ: 'JOSE' }),
    'crit empty': header({ ...GOOD_HEADER, crit: [] }),
    'crit b64': header({ ...GOOD_HEADER, crit: ['b64'], b64: true }),
    'crit exp': header({ ...GOOD_HEADER, crit: ['exp'], exp: 1 }),
    'b64 false': header({ ...GOOD_HEADER, b64: false }),
    'b64 true': header({ ...GOOD_HEADER, b64: true }),
    kid: header({ ...GOOD_HEADER, kid: '1' }),
    'kid as a path': header({ ...GOOD_HEADER, kid: '../../dev/null' }),
    'kid as SQL': header({ ...GOOD_HEADER, kid: "' OR 1=1 --" }),
    'kid __proto__': header({ ...GOOD_HEADER, kid: '__proto__' }),
    'a member __proto__': header('{"alg":"HS256","typ":"JWT","__proto__":{}}'),
    jku: header({ ...GOOD_HEADER, jku: 'https://evil.example/keys' }),
    jwk: header({ ...GOOD_HEADER, jwk: { kty: 'oct', k: KEY_BYTES.toString('base64url') } }),
    x5u: header({ ...GOOD_HEADER, x5u: 'https://evil.example' }),
    x5c: header({ ...GOOD_HEADER, x5c: [] }),
    zip: header({ ...GOOD_HEADER, zip: 'DEF' }),
    cty: header({ ...GOOD_HEADER, cty: 'JWT' }),
    'alg twice, the right one last': header('{"alg":"none","typ":"JWT","alg":"HS256"}'),
    'alg twice, the right one first': header('{"alg":"HS256","typ":"JWT","alg":"none"}'),
    'alg twice, the same': header('{"alg":"HS256","typ":"JWT","alg":"HS256"}'),
    'alg twice, once escaped': header('{"alg":"HS256","typ":"JWT","\\u0061lg":"HS256"}'),
    'a list': header('["HS256","JWT"]'),
    null: header('null'),
    'no JSON': header('{'),
    'a byte order mark': header('\uFEFF{"alg":"HS256","typ":"JWT"}'),
    'two values': header('{"alg":"HS256","typ":"JWT"}{}'),
  })

  const claim = (name: string, value: unknown) => forge(GOOD_HEADER, { ...claimsOf(), [name]: value })
  const raw = (name: string, text: string) => {
    const { [name]: _, ...rest } = { ...claimsOf() } as Record<string, unknown>
    return forge(GOOD_HEADER, `{"${name}":${text},${JSON.stringify(rest).slice(1)}`)
  }
  refusesEach('claims, though signed with the right key', {
    ...Object.fromEntries(Object.keys(claimsOf()).map((name) => [`no ${name}`, claim(name, undefined)])),
    ...Object.fromEntries(Object.keys(claimsOf()).map((name) => [`${name} null`, claim(name, null)])),
    ...Object.fromEntries(
      Object.keys(claimsOf()).map((name) => [`${name} a list in a list`, claim(name, [[claimsOf()]])]),
    ),
    ...Object.fromEntries(Object.keys(claimsOf()).map((name) => [`${name} an object`, claim(name, {})])),
    'exp now': claim('exp', NOW_SECONDS),
    'exp a second ago': claim('exp', NOW_SECONDS - 1),
    'exp as text': claim('exp', String(NOW_SECONDS + 3600)),
    'exp with a fraction': claim('exp', NOW_SECONDS + 0.5),
    'exp 1e309': raw('exp', '1e309'),
    'exp -1': claim('exp', -1),
    'exp 2^53': raw('exp', '9007199254740992'),
    'exp 2^53 + 1': raw('exp', '9007199254740993'),
    'exp true': claim('exp', true),
    'iat 61 seconds ahead': claim('iat', NOW_SECONDS + 61),
    'iat as text': claim('iat', '1'),
    'iat with a fraction': claim('iat', 1.5),
    'iat -1': claim('iat', -1),
    'iat 2^53': raw('iat', '9007199254740992'),
    'nbf 61 seconds ahead': claim('nbf', NOW_SECONDS + 61),
    'nbf as text': claim('nbf', '1'),
    'nbf null': claim('nbf', null),
    'nbf 1e309': raw('nbf', '1e309'),
    'jti no UUID': claim('jti', 'token-1'),
    'jti a number': claim('jti', 7),
    'jti with a line feed': claim('jti', `${claimsOf().jti}\n`),
    'jti in braces': claim('jti', `{${claimsOf().jti}}`),
    'sub empty': claim('sub', ''),
    'sub of 129 characters': claim('sub', 'a'.repeat(129)),
    'sub a number': claim('sub', 7),
    'email empty': claim('email', ''),
    'email of 255 characters': claim('email', 'a'.repeat(255)),
    'scopes as text': claim('scopes', 'put'),
    'scopes as text with spaces': claim('scopes', 'put get'),
    'scopes empty': claim('scopes', []),
    'scopes of everything': claim('scopes', ['*']),
    'scopes in upper case': claim('scopes', ['PUT']),
    'scopes unknown': claim('scopes', ['put', 'root']),
    'scopes of a prototype': claim('scopes', ['constructor']),
    'scopes twice the same': claim('scopes', ['put', 'put']),
    'scopes of numbers': claim('scopes', [0]),
    'quotaMb -1': claim('quotaMb', -1),
    'quotaMb with a fraction': claim('quotaMb', 0.5),
    'quotaMb as text': claim('quotaMb', '1024'),
    'quotaMb 2^53': raw('quotaMb', '9007199254740992'),
    'quotaMb 1e309': raw('quotaMb', '1e309'),
    'exp twice': forge(GOOD_HEADER, `{"exp":1,${JSON.stringify(claimsOf()).slice(1)}`),
    'scopes twice, once escaped': forge(GOOD_HEADER, `{"\\u0073copes":["put"],${JSON.stringify(claimsOf()).slice(1)}`),
    'a repeated name further in': forge(GOOD_HEADER, `{"x":[{"a":1,"a":2}],${JSON.stringify(claimsOf()).slice(1)}`),
    'a list': forge(GOOD_HEADER, [claimsOf()]),
    'a text': forge(GOOD_HEADER, '"x"'),
    'no JSON': forge(GOOD_HEADER, 'x'),
    empty: forge(GOOD_HEADER, ''),
  })

  it.each([
    ['exp one second ahead', { exp: NOW_SECONDS + 1 }],
    ['iat 60 seconds ahead', { iat: NOW_SECONDS + 60 }],
    ['nbf 60 seconds ahead', { nbf: NOW_SECONDS + 60 }],
    ['nbf with a fraction', { nbf: NOW_SECONDS - 0.5 }],
    ['quotaMb 0', { quotaMb: 0 }],
    ['one scope', { scopes: ['pin'] }],
    ['sub of 128 characters', { sub: 'a'.repeat(128) }],
    ['a name that is repeated in different objects', { x: [{ a: 1 }, { a: 2 }], y: { a: 'a":"a' } }],
  ])('accepts %s', async (_, changes) => {
    expect((await verify(forge(GOOD_HEADER, { ...claimsOf(), ...changes }))).jti).toBe(claimsOf().jti)
  })

  const good = forge(GOOD_HEADER, claimsOf())
  const jwt = good.slice('pk_live_'.length)
  const [h = '', p = '', s = ''] = jwt.split('.')
  refusesEach('another spelling', {
    empty: '',
    'the prefix alone': 'pk_live_',
    'no prefix': jwt,
    'the prefix twice': `pk_live_${good}`,
    pk_test_: `pk_test_${jwt}`,
    'the prefix in upper case': `PK_LIVE_${jwt}`,
    'a space before': ` ${good}`,
    'a space after': `${good} `,
    'a line feed after': `${good}\n`,
    'NUL after': `${good}\0`,
    'two parts': `pk_live_${h}.${p}`,
    'an empty signature': `pk_live_${h}.${p}.`,
    'an empty payload': `pk_live_${h}..${s}`,
    'a fourth part': `${good}.`,
    'five parts': `${good}.${p}.${s}`,
    'padding at the signature': `${good}=`,
    'padding at the header': `pk_live_${h}=.${p}.${s}`,
    'base64 instead of base64url': `pk_live_${h}.${p}.${Buffer.alloc(32, 0xfb).toString('base64')}`,
    'a space in the signature': `pk_live_${h}.${p}.${s.slice(0, 9)} ${s.slice(9)}`,
    'the signature cut to 31 bytes': `pk_live_${h}.${p}.${Buffer.from(s, 'base64url').subarray(0, 31).toString('base64url')}`,
    'the signature longer by a byte': `pk_live_${h}.${p}.${Buffer.concat([Buffer.from(s, 'base64url'), Buffer.of(0)]).toString('base64url')}`,
    'the signature of zeros': `pk_live_${h}.${p}.${Buffer.alloc(32).toString('base64url')}`,
    'invalid UTF-8 in the payload': `pk_live_${signed(h, Buffer.from([0xff, 0xfe]))}`,
    'more than 4096 characters': forge(GOOD_HEADER, { ...claimsOf(), x: 'x'.repeat(4096) }),
    'a million characters': `pk_live_${'a'.repeat(1_000_000)}`,
  })

  it('refuses trailing bits in each part, though they decode to the same bytes', async () => {
    // 32 bytes leave 4 free bits in the last of 43 characters: 15 other spellings.
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const last = alphabet.indexOf(s.at(-1) ?? '')
    for (let bits = 1; bits < 4; bits += 1) await expectRefused(`${good.slice(0, -1)}${alphabet[last + bits]}`)
  })

  it('refuses a token of another key', async () => {
    await expectRefused(forge(GOOD_HEADER, claimsOf(), { bytes: Buffer.alloc(32, 8) }))
    await expectRefused(forge(GOOD_HEADER, claimsOf(), { bytes: Buffer.alloc(0) }))
  })

  it('accepts a token of exactly the longest length', async () => {
    let filler = 4096 - good.length
    while (forge(GOOD_HEADER, { ...claimsOf(), x: 'x'.repeat(filler) }).length > MAXIMUM_TOKEN_LENGTH) filler -= 1
    const longest = forge(GOOD_HEADER, { ...claimsOf(), x: 'x'.repeat(filler) })
    expect(longest.length).toBeGreaterThan(MAXIMUM_TOKEN_LENGTH - 3)
    expect(await verify(longest)).toEqual(claimsOf())
    await expectRefused(forge(GOOD_HEADER, { ...claimsOf(), x: 'x'.repeat(filler + 3) }))
  })

  it('refuses every one of 20,000 changes of a single byte', async () => {
    const random = seeded(0x1ade)
    const bytes = Buffer.from(good, 'latin1')
    let accepted = 0
    for (let round = 0; round < 20_000; round += 1) {
      const mutant = Buffer.from(bytes)
      const at = round < bytes.length ? round : random(bytes.length)
      mutant[at] = ((mutant[at] ?? 0) + 1 + random(255)) % 256
      const outcome = await verify(mutant.toString('latin1')).then(
        () => 'accepted',
        (error: unknown) => (LadeError.has(error, 'invalid_token') ? 'refused' : error),
      )
      if (outcome !== 'refused') accepted += 1
    }
    expect(accepted).toBe(0)
    expect(await verify(bytes.toString('latin1'))).toEqual(claimsOf())
  })
})

/** A JWT of a header part and payload bytes with the right signature. */
function signed(header: string, payload: Uint8Array): string {
  const input = `${header}.${Buffer.from(payload).toString('base64url')}`
  return `${input}.${createHmac('sha256', KEY_BYTES).update(input).digest('base64url')}`
}

/** Numbers below `limit`, the same in every run (mulberry32). */
function seeded(seed: number): (limit: number) => number {
  let state = seed
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit
  }
}

it('says of a token that has expired when that was, and nothing else of any other', async () => {
  const expired = await mintToken(claimsOf({ exp: NOW_SECONDS - 1 }), key)
  const said = (token: string) => verify(token).catch((error: Error) => error.message)
  expect(await said(expired)).toMatch(
    /^The token expired on \d{4}-\d\d-\d\d at \d\d:\d\d UTC\. Get a new one with `lade login`/,
  )
  expect(await said(`${expired.slice(0, -1)}${expired.endsWith('A') ? 'B' : 'A'}`)).toMatch(/^The token is damaged/)
})
