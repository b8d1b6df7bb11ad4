import fc from 'fast-check'
import { expect, test } from 'vitest'
import { blockDigestInTurns, blockHashOf, blockHashWeight } from './block-hash.ts'
import { hexOf } from './hex.ts'

// Codes by https://github.com/multiformats/multicodec/blob/master/table.csv; digests by the documents of each hash, and by Python's hashlib.
const OF_ABC: readonly (readonly [number, string])[] = [
  [0x12, 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  [
    0x13,
    'ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f',
  ],
  [
    0x14,
    'b751850b1a57168a5693cd924b6b096e08f621827444f70d884f5d0240d2712e10e116e9192af3c91a7ec57647e3934057340b4cf408d5a56592f8274eec53f0',
  ],
  [0x15, 'ec01498288516fc926459f58e2c6ad8df9b473cb0fc08c2596da7cf0e49be4b298d88cea927ac7f539f1edf228376d25'],
  [0x16, '3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532'],
  [0x17, 'e642824c3f8cf24ad09234ee7d3c766fc9a3a5168d0c94ad73b46fdf'],
  [
    0x19,
    '483366601360a8771c6863080cc4114d8db44530f8f1e1ee4f94ea37e78b5739d5a15bef186a5386c75744c0527e1faa9f8726e462a12a4feb06bd8801e751e4',
  ],
  [0x1a, 'c30411768506ebe1c2871b1ee2e87d38df342317300a9b97a95ec6a8'],
  [0x1b, '4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45'],
  [0x1c, 'f7df1165f033337be098e7d288ad6a2f74409d7a60b49c36642218de161b1f99f8c681e4afaf31a34db29fb763e3c28e'],
  [
    0x1d,
    '18587dc2ea106b9a1563e32b3312421ca164c7f1f07bc922a9c83d77cea3a1e5d0c69910739025372dc14ac9642629379540c17e2a65b19d77aa511a9d00bb96',
  ],
  [0x1e, '6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85'],
  [0x56, '4f8b42c22dd3729b519ba6f68d2da7cc5b2d606d05daed5ad5128cc03e6c6358'],
  [0xb214, '384264f676f39536840523f284921cdc68b6846b'],
  [0xb220, 'bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319'],
  [
    0xb240,
    'ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d17d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923',
  ],
  [0xb254, '5ae3b99be29b01834c3b508521ede60438f8de17'],
  [0xb260, '508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982'],
]

test.each(OF_ABC)('the hash of code %i digests "abc"', async (code, expected) => {
  const bytes = Buffer.from('abc')
  expect(hexOf(blockHashOf(code)?.(bytes) ?? Buffer.of())).toBe(expected)
  expect(hexOf((await blockDigestInTurns(code, bytes)) ?? Buffer.of())).toBe(expected)
})

test.each([0x00, 0x11, 0x18, 0xb201, 0xb213, 0xb241, 0xb253, 0xb261])(
  'the hash of code %i is not checked',
  async (code) => {
    expect(blockHashOf(code)).toBeUndefined()
    expect(await blockDigestInTurns(code, Buffer.from('abc'))).toBeUndefined()
    expect(blockHashWeight(code)).toBe(1)
  },
)

test('every blake2 from 20 bytes on has a code of its own', () => {
  for (let length = 20; length <= 64; length += 1) {
    expect(blockHashOf(0xb200 + length)?.(Buffer.from('abc')).length).toBe(length)
    if (length <= 32) expect(blockHashOf(0xb240 + length)?.(Buffer.from('abc')).length).toBe(length)
  }
})

test('long blocks have the same digest in turns', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...OF_ABC.map(([code]) => code)),
      fc.nat({ max: 200_000 }),
      async (code, length) => {
        const bytes = Buffer.alloc(length, 'pattern of a block')
        const digest = await blockDigestInTurns(code, bytes)
        expect(hexOf(digest ?? Buffer.of())).toBe(hexOf(blockHashOf(code)?.(bytes) ?? Buffer.of()))
      },
    ),
    { numRuns: 60 },
  )
})
