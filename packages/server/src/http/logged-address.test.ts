import { expect, it } from 'vitest'
import { memoryLog } from '../testing/running/running-service.ts'
import { hidingAddresses, type LoggedAddresses } from './logged-address.ts'

function logged(shown: LoggedAddresses, line: Record<string, unknown>): Record<string, unknown> {
  const lines: string[] = []
  hidingAddresses(memoryLog(lines), shown).info(line, 'request')
  const { address, principal, status } = JSON.parse(lines[0] ?? '{}')
  return { address, principal, status }
}

it.each([
  ['192.0.2.77', 'ip:192.0.2.77', '192.0.2.0/24', 'ip:192.0.2.0/24'],
  ['2001:db8:1:2:3:4:5:6', 'ip:2001:db8:1:2::/64', '2001:db8:1::/48', 'ip:2001:db8:1::/48'],
  ['2001:db8::7', 'ip:2001:db8:0:0::/64', '2001:db8:0::/48', 'ip:2001:db8:0::/48'],
  ['2001::1:2:3:4:5:6', 'ip:2001:0:1:2::/64', '2001:0:1::/48', 'ip:2001:0:1::/48'],
  ['2001:DB8:00a0::7%eth0', 'ip:2001:db8:a0:0::/64', '2001:db8:a0::/48', 'ip:2001:db8:a0::/48'],
  ['::1', 'ip:0:0:0:0::/64', '0:0:0::/48', 'ip:0:0:0::/48'],
])('shows all, the network or nothing of %s', (address, principal, network, networkPrincipal) => {
  const line = { address, principal, status: 200 }
  expect(logged('full', line)).toEqual(line)
  expect(logged('network', line)).toEqual({ address: network, principal: networkPrincipal, status: 200 })
  expect(logged('none', line)).toEqual({ address: undefined, principal: 'ip', status: 200 })
})

it('leaves principals that are no addresses as they are', () => {
  const line = { address: '192.0.2.7', principal: 'user:0123456789abcdef', status: 200 }
  expect(logged('none', line)).toEqual({ ...line, address: undefined })
})
