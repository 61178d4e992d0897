import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ensResolve } from '../../marketplace/services/providers/ens-resolve.ts'
import { evmBalance } from '../../marketplace/services/providers/evm-balance.ts'
import { gasPrice } from '../../marketplace/services/providers/gas-price.ts'
import { readRequest } from '../../marketplace/services/service.ts'
import { emailValidate } from '../../marketplace/services/web/email-validate.ts'
import { geoIp } from '../../marketplace/services/web/geo-ip.ts'
import { readMailAddress } from '../../marketplace/services/web/mail-address.ts'

/** Parts of requests, valid and nearly valid. */
const LABEL = fc.constantFrom(
  'a',
  'ä',
  'xn--bcher-kva',
  '例え',
  '-',
  '',
  '1',
  '0x1',
  'eth',
  'com',
  'A'.repeat(63),
  '１',
)
const NEAR = fc
  .tuple(
    fc.array(fc.oneof(LABEL, fc.string({ unit: 'grapheme', maxLength: 3 })), { maxLength: 4 }),
    fc.array(LABEL, { maxLength: 4 }),
    fc.constantFrom('@', '.', '"@', ':', '::', ' ', '0x', ''),
  )
  .map(([left, right, between]) => `${left.join('.')}${between}${right.join('.')}`)
const TEXT = fc.oneof(NEAR, fc.string({ unit: 'binary', maxLength: 300 }))

test('a request of a lookup is taken or refused, whatever it is', () => {
  fc.assert(
    fc.property(TEXT, (text) => {
      for (const service of [emailValidate, ensResolve, evmBalance, gasPrice, geoIp]) {
        const read = readRequest(service, text)
        if (!read.ok) expect(read.fault.code).toBe('service/invalid-request')
      }
    }),
  )
})

test('a mail address that was read is one in its normal form, and stays as it is', () => {
  const read = { count: 0 }
  fc.assert(
    fc.property(TEXT, (text) => {
      const first = readMailAddress(text)
      if (!first.valid) return
      read.count += 1
      const { local, domain } = first.address
      expect(domain).toMatch(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/)
      expect(readMailAddress(`${local}@${domain}`)).toEqual(first)
    }),
    { numRuns: 5_000 },
  )
  expect(read.count).toBeGreaterThan(10)
})
