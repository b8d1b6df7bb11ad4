import { describe, expect, it } from 'vitest'
import { proversForm } from './prover-forms.ts'

const read = (text: string) => proversForm.schema.safeParse(text).data

const LOWER = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const ACCOUNT = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const CONTRACT = '0x02925630df557F957f70E112bA06e50965417CA0'

describe('proversForm', () => {
  it.each([
    ['local', [{ kind: 'local' }]],
    ['https://Prover.Example', [{ kind: 'reference', origin: 'https://prover.example' }]],
    ['https://prover.example:443/', [{ kind: 'reference', origin: 'https://prover.example' }]],
    [`https://prover.example#${LOWER}`, [{ kind: 'reference', origin: 'https://prover.example', account: ACCOUNT }]],
    ['http://127.0.0.1:8090', [{ kind: 'reference', origin: 'http://127.0.0.1:8090' }]],
    ['http://[::1]:8090', [{ kind: 'reference', origin: 'http://[::1]:8090' }]],
    ['http://[fd00::1]', [{ kind: 'reference', origin: 'http://[fd00::1]' }]],
    ['http://localhost', [{ kind: 'reference', origin: 'http://localhost' }]],
    ['http://prover:8090', [{ kind: 'reference', origin: 'http://prover:8090' }]],
    ['http://10.1.2.3', [{ kind: 'reference', origin: 'http://10.1.2.3' }]],
    ['http://prover.ns.internal', [{ kind: 'reference', origin: 'http://prover.ns.internal' }]],
    [`curio+https://sp.example#${ACCOUNT}`, [{ kind: 'curio', origin: 'https://sp.example', account: ACCOUNT }]],
    [
      `curio-pull+https://sp.example?recordKeeper=${CONTRACT}&chainId=314159#${ACCOUNT}`,
      [
        {
          kind: 'curio-pull',
          origin: 'https://sp.example',
          account: ACCOUNT,
          recordKeeper: CONTRACT,
          chainId: 314_159,
        },
      ],
    ],
    [
      'local, http://127.0.0.1:8090 ,https://a.example',
      [
        { kind: 'local' },
        { kind: 'reference', origin: 'http://127.0.0.1:8090' },
        { kind: 'reference', origin: 'https://a.example' },
      ],
    ],
  ])('reads %s', (text, expected) => {
    expect(read(text)).toEqual(expected)
  })

  it.each([
    '',
    'Local',
    'local,',
    'local,local',
    'https://a.example,https://a.example:443',
    `https://a.example,curio+https://a.example#${ACCOUNT}`,
    'http://prover.example',
    'http://8.8.8.8',
    'http://172.32.0.1',
    'http://[2606:4700::1]',
    'http://169.254.169.254',
    'http://0.0.0.0',
    'https://prover.example/pdp',
    'https://user@prover.example',
    'https://user:secret@prover.example',
    'https://prover.example?x=1',
    'https://prover.example#',
    'https://prover.example#0x12',
    `https://prover.example#${ACCOUNT.replace('C51812dc', 'c51812dc')}`,
    'ftp://prover.example',
    'prover.example',
    'curio+https://sp.example',
    `curio+http://sp.example#${ACCOUNT}`,
    `curio+https://sp.example?recordKeeper=1#${ACCOUNT}`,
    `curio+https://sp.example?chainId=0#${ACCOUNT}`,
    `curio+https://sp.example?chainId=1&chainId=2#${ACCOUNT}`,
    `curio+https://sp.example?other=1#${ACCOUNT}`,
    `boost+https://sp.example#${ACCOUNT}`,
    'https://pro ver.example',
    'https://prover.example\\@evil.example',
    Array.from({ length: 33 }, (_, index) => `https://a${index}.example`).join(),
  ])('refuses %s', (text) => {
    expect(read(text)).toBeUndefined()
  })
})
