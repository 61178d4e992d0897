import { bech32, bech32m } from '@scure/base'
import { describe, expect, it } from 'vitest'
import { formatAddress, parseAddress } from '../../../../consensus/crypto/address.ts'
import { fromHex } from '../../../../consensus/primitives/bytes.ts'
import { fault } from '../../../../consensus/primitives/fault.ts'
import type { Address } from '../../../../consensus/primitives/ids.ts'
import { loadVectors } from '../../../support/vectors.ts'
import { bech32Text, fiveBitGroups } from '../../../vectors/generate/accounts.ts'

interface AccountVector {
  readonly address: Address
  readonly text: Readonly<Record<string, string>>
}

const { accounts } = loadVectors<{ accounts: readonly AccountVector[] }>('accounts.json', {
  seeds: 5,
  keys: 10,
  accounts: 15,
})
const { address, text } = accounts[0] as AccountVector
const good = text.far as string

const BAD_CHECKSUM = 'bad characters or checksum'
const NOT_32 = 'not 32 bytes'
const NOT_CANONICAL = 'not in its canonical form'

const malformed = (text: string, reason: string) => ({
  ok: false,
  fault: fault('address/malformed', { text: text.slice(0, 100), reason }),
})

describe('the text of an address', () => {
  it('is that of the vectors on all three networks, and reads back', () => {
    for (const { address, text } of accounts) {
      expect(Object.keys(text)).toEqual(['far', 'tfar', 'dfar'])
      for (const [prefix, expected] of Object.entries(text)) {
        expect(formatAddress(prefix, address)).toBe(expected)
        expect(parseAddress(prefix, expected)).toEqual({ ok: true, value: address })
      }
    }
  })

  it('is refused on any other network, with both prefixes named', () => {
    for (const got of ['far', 'tfar', 'dfar']) {
      for (const expected of ['far', 'tfar', 'dfar'].filter((prefix) => prefix !== got)) {
        expect(parseAddress(expected, text[got] as string)).toEqual({
          ok: false,
          fault: fault('address/other-network', { got, expected }),
        })
      }
    }
  })

  it('is refused with any one character changed', () => {
    const letters = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'
    for (let at = 4; at < good.length; at++) {
      const other = letters[(letters.indexOf(good[at] as string) + 1 + (at % 31)) % 32] as string
      const changed = `${good.slice(0, at)}${other}${good.slice(at + 1)}`
      expect(parseAddress('far', changed)).toEqual(malformed(changed, BAD_CHECKSUM))
    }
  })

  it('is refused with two neighbours swapped, a character missing or doubled', () => {
    for (let at = 4; at < good.length - 1; at++) {
      const [a, b] = [good[at] as string, good[at + 1] as string]
      const swapped = `${good.slice(0, at)}${b}${a}${good.slice(at + 2)}`
      const shorter = `${good.slice(0, at)}${good.slice(at + 1)}`
      const longer = `${good.slice(0, at)}${a}${good.slice(at)}`
      for (const changed of a === b ? [shorter, longer] : [swapped, shorter, longer])
        expect(parseAddress('far', changed)).toEqual(malformed(changed, BAD_CHECKSUM))
    }
  })
})

describe('text that is not the one form of an address is refused', () => {
  const bytes = fromHex(address)
  const groups = fiveBitGroups(bytes)
  const withPadding = (padding: number) => [...groups.slice(0, -1), (groups.at(-1) as number) | padding]
  const of = (length: number) => bech32m.encode('far', bech32m.toWords(new Uint8Array(length).fill(7)), false)

  const cases: readonly [string, string, string][] = [
    ['the empty text', '', BAD_CHECKSUM],
    ['the prefix alone', 'far', BAD_CHECKSUM],
    ['prefix and separator', 'far1', BAD_CHECKSUM],
    ['no prefix', good.slice(4), BAD_CHECKSUM],
    ['upper case', good.toUpperCase(), NOT_CANONICAL],
    ['mixed case', `${good.slice(0, 10)}${good.slice(10).toUpperCase()}`, BAD_CHECKSUM],
    ['an upper-case prefix alone', `FAR${good.slice(3)}`, BAD_CHECKSUM],
    ['a blank before', ` ${good}`, BAD_CHECKSUM],
    ['a blank behind', `${good} `, BAD_CHECKSUM],
    ['a line end behind', `${good}\n`, BAD_CHECKSUM],
    ['a zero byte behind', `${good}\u0000`, BAD_CHECKSUM],
    ['a full-width letter', good.replace('f', '\uff46'), BAD_CHECKSUM],
    ['a letter outside the alphabet', good.replace(/.$/, 'b'), BAD_CHECKSUM],
    ['the checksum of bech32 instead of bech32m', bech32Text('far', groups, 1), BAD_CHECKSUM],
    ['bech32 from a library', bech32.encode('far', bech32.toWords(bytes)), BAD_CHECKSUM],
    ['0 bytes', of(0), NOT_32],
    ['20 bytes', of(20), NOT_32],
    ['31 bytes', of(31), NOT_32],
    ['33 bytes', of(33), NOT_32],
    ['48 bytes', of(48), NOT_32],
    ['more text than bech32 allows', of(64), BAD_CHECKSUM],
    ['padding bits that are not zero', bech32Text('far', withPadding(1)), NOT_32],
    ['other padding bits that are not zero', bech32Text('far', withPadding(8)), NOT_32],
    ['a five-bit group too many', bech32Text('far', [...groups, 0]), NOT_32],
    ['hex', address, BAD_CHECKSUM],
    ['half a megabyte', 'far1'.repeat(125_000), BAD_CHECKSUM],
  ]

  it.for(cases)('%s', ([, text, reason]) => {
    expect(parseAddress('far', text)).toEqual(malformed(text, reason))
  })
})
