import { describe, expect, test } from 'vitest'
import { AddressGuard, isNetwork } from '../../../../src/adapters/address-guard.ts'
import { readPublicUrl } from '../../../../src/adapters/public-url.ts'

const rules = {
  ports: [80, 443, 8443],
  guard: new AddressGuard(['198.51.0.0/17', '2606:4700::/32'], () => [
    '93.184.216.34',
    '2a00:1::5',
    '2a00:2:3:4::5/64',
    '93.184.217.9/30',
    '93.184.218.9/32',
    '93.184.219.9/8',
    '2a00:3::1/32',
    'fe80::1%eth0/64',
  ]),
  ownHosts: new Set(['node.example']),
}

function verdict(text: string): string {
  const url = readPublicUrl(text, rules)
  return url.ok ? url.value.href : String(url.fault.detail.reason)
}

describe('addresses that are read', () => {
  test.each([
    ['http://example.com', 'http://example.com/'],
    ['HTTPS://Example.COM/a?b#c', 'https://example.com/a?b#c'],
    ['http://example.com.:80/', 'http://example.com/'],
    ['https://b\u00fccher.example/', 'https://xn--bcher-kva.example/'],
    ['https://example.com:8443/', 'https://example.com:8443/'],
    ['http://93.184.216.35/', 'http://93.184.216.35/'],
    ['http://[2a00:1::6]/', 'http://[2a00:1::6]/'],
    ['http://[2a00:2:3:5::5]/', 'http://[2a00:2:3:5::5]/'],
    ['http://93.184.217.12/', 'http://93.184.217.12/'],
    ['http://93.184.218.8/', 'http://93.184.218.8/'],
    ['http://[2a00:3::2]/', 'http://[2a00:3::2]/'],
  ])('%s', (text, href) => expect(verdict(text)).toBe(href))
})

const NOT_PUBLIC = [
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0177.0.0.1',
  '0177.1',
  '127.0.0.1.',
  '\uff11\uff12\uff17.\uff10.\uff10.\uff11',
  '127\u30020\u30020\u30021',
  '%31%32%37.0.0.1',
  '127.255.255.254',
  '0',
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '10.255.255.255',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.0.1',
  '169.254.169.254',
  '0xa9fea9fe',
  '2852039166',
  '100.64.0.1',
  '100.127.255.255',
  '192.0.0.1',
  '192.0.2.1',
  '198.51.100.1',
  '203.0.113.1',
  '198.18.0.1',
  '198.19.255.255',
  '192.88.99.1',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '[::]',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::ffff:a9fe:a9fe]',
  '[::ffff:0:127.0.0.1]',
  '[::127.0.0.1]',
  '[::7f00:1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b::8.8.8.8]',
  '[64:ff9b:1::1]',
  '[2002:7f00:1::]',
  '[2002:808:808::]',
  '[2001::1]',
  '[2001:db8::1]',
  '[3fff::1]',
  '[2001:2::1]',
  '[2001:10::1]',
  '[2001:20::1]',
  '[fe80::1]',
  '[febf::1]',
  '[fec0::1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[ff02::1]',
  '[100::1]',
  '[4000::1]',
  '[5f00::1]',
  '[2a00:1::5efe:7f00:1]',
  '[2a00:1::200:5efe:a00:1]',
  '[::2]',
  '[e000::1]',
]

describe('addresses that are not public', () => {
  test.each(NOT_PUBLIC)('%s', (host) => expect(verdict(`http://${host}/`)).toBe('its address is not a public one'))
})

describe('other addresses that are refused', () => {
  test.each([
    ['', 'it is not an absolute http or https URL'],
    ['example.com', 'it is not an absolute http or https URL'],
    ['//example.com', 'it is not an absolute http or https URL'],
    ['http:example.com', 'it is not an absolute http or https URL'],
    ['http:/127.0.0.1', 'it is not an absolute http or https URL'],
    ['http:\\\\127.0.0.1', 'it is not an absolute http or https URL'],
    ['ftp://example.com', 'it is not an absolute http or https URL'],
    ['file:///etc/passwd', 'it is not an absolute http or https URL'],
    ['javascript:alert(1)', 'it is not an absolute http or https URL'],
    ['data:text/html,a', 'it is not an absolute http or https URL'],
    ['ht\ntp://example.com', 'it is not an absolute http or https URL'],
    ['http://exa\tmple.com', 'it is not an absolute http or https URL'],
    ['http://example.com/a b', 'it is not an absolute http or https URL'],
    ['http://[fe80::1%25eth0]/', 'it is not an absolute http or https URL'],
    ['http://1.2.3.4.5/', 'it is not an absolute http or https URL'],
    ['http://256.1.1.1/', 'it is not an absolute http or https URL'],
    ['http://', 'it is not an absolute http or https URL'],
    ['http://user@example.com', 'it has credentials'],
    ['http://user:word@example.com', 'it has credentials'],
    ['http://93.184.216.35@127.0.0.1/', 'it has credentials'],
    ['http://example.com:8080', 'port 8080 is not read'],
    ['https://example.com:22', 'port 22 is not read'],
    ['http://example.com:0', 'port 0 is not read'],
    ['http://localhost', 'its host is not on the public internet'],
    ['http://LOCALHOST./', 'its host is not on the public internet'],
    ['http://a.localhost', 'its host is not on the public internet'],
    ['http://printer.local', 'its host is not on the public internet'],
    ['http://metadata.google.internal', 'its host is not on the public internet'],
    ['http://a.onion', 'its host is not on the public internet'],
    ['http://router.home.arpa', 'its host is not on the public internet'],
    ['http://intranet', 'its host is not a full name'],
    ['http://com./', 'its host is not a full name'],
    ['http://example.com../', 'its host is not a full name'],
    ['http://a..example.com/', 'its host is not a full name'],
    ['http://node.example/x', 'its host is this node'],
    ['http://NODE.example.', 'its host is this node'],
    ['http://93.184.216.34/', 'its address is that of this node'],
    ['http://[::ffff:93.184.216.34]/', 'its address is that of this node'],
    ['http://[2a00:1:0::5]/', 'its address is that of this node'],
    ['http://[2a00:2:3:4::5]/', 'its address is that of this node'],
    ['http://[2a00:2:3:4::1]/', 'its network is that of this node'],
    ['http://93.184.217.8/', 'its network is that of this node'],
    ['http://[::ffff:93.184.217.10]/', 'its network is that of this node'],
    ['http://93.184.218.9/', 'its address is that of this node'],
    ['http://93.184.219.9/', 'its address is that of this node'],
    ['http://198.51.99.1/', 'its network is never read'],
    ['http://[::ffff:198.51.99.1]/', 'its network is never read'],
    ['http://[2606:4700::1111]/', 'its network is never read'],
    ['http://168.63.129.16/machine?comp=goalstate', 'its network is never read'],
    ['http://[::ffff:168.63.129.16]/', 'its network is never read'],
    [`http://example.com/${'a'.repeat(2_030)}`, 'it is longer than 2048 characters'],
    [`http://example.com/${'\u00fc'.repeat(1_000)}`, 'it is longer than 2048 characters'],
  ])('%s', (text, reason) => expect(verdict(text)).toBe(reason))
})

test('what the resolver says is judged like what the URL says', () => {
  expect(rules.guard.refusal(['93.184.216.35', '8.8.8.8'])).toBeNull()
  expect(rules.guard.refusal(['93.184.216.35', '127.0.0.1'])).toBe('its address is not a public one')
  expect(rules.guard.refusal(['93.184.216.35'], ['93.184.216.35'])).toBe('its address is that of this node')
  expect(rules.guard.refusal(['fe80::1%eth0'])).toBe('its address is not a public one')
  expect(rules.guard.refusal(['nonsense'])).toBe('its address is none')
})

test.each([
  ['203.0.113.0/24', true],
  ['2001:db8::/32', true],
  ['203.0.113.0/33', false],
  ['203.0.113.0', false],
  ['::/129', false],
])('%s is a network: %s', (text, is) => expect(isNetwork(text)).toBe(is))
