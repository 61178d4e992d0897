import { describe, expect, it } from 'vitest'
import { readMailAddress } from '../../../../../marketplace/services/web/mail-address.ts'

const L64 = 'l'.repeat(64)
const D189 = `${'d'.repeat(63)}.${'d'.repeat(63)}.${'d'.repeat(57)}.com`

describe('a mail address', () => {
  it.each([
    ['ada@example.org', 'ada', 'example.org', 'plain'],
    ['Ada.Lovelace+x@EXAMPLE.Org', 'Ada.Lovelace+x', 'example.org', 'plain'],
    ["!#$%&'*+/=?^_`{|}~-@a-b.co", "!#$%&'*+/=?^_`{|}~-", 'a-b.co', 'plain'],
    ['"a b"@example.org', '"a b"', 'example.org', 'quoted'],
    ['"a@b\\""@example.org', '"a@b\\""', 'example.org', 'quoted'],
    ['ada@bücher.de', 'ada', 'xn--bcher-kva.de', 'plain'],
    ['ada@例え.jp', 'ada', 'xn--r8jz45g.jp', 'plain'],
    ['ada@例え。jp', 'ada', 'xn--r8jz45g.jp', 'plain'],
    ['ada@xn--bcher-kva.de', 'ada', 'xn--bcher-kva.de', 'plain'],
    ['jürgen@example.org', 'jürgen', 'example.org', 'international'],
    ['ju\u0308rgen@example.org', 'jürgen', 'example.org', 'international'],
    [`${L64}@${D189}`, L64, D189, 'plain'],
  ])('%s is one', (text, local, domain, form) => {
    expect(readMailAddress(text)).toEqual({ valid: true, address: { local, domain, form } })
  })

  it.each([
    ['ada', 'there is no @'],
    ['@example.org', 'there is nothing before the @'],
    ['ada@', 'there is nothing after the @'],
    ['.ada@example.org', 'begins or ends with a dot'],
    ['ada.@example.org', 'begins or ends with a dot'],
    ['a..a@example.org', 'two in a row'],
    ['a a@example.org', 'must be quoted'],
    ['a@b@example.org', 'must be quoted'],
    ['a(comment)@example.org', 'must be quoted'],
    ['"a"b"@example.org', 'must be quoted'],
    ['""@example.org', 'must be quoted'],
    ['<ada@example.org>', 'must be quoted'],
    ['ada@example.org>', 'a character that domains do not have'],
    ['ada@exa mple.org', 'a character that domains do not have'],
    ['ada@example.org/x', 'a character that domains do not have'],
    ['ada@example.org:25', 'a character that domains do not have'],
    ['ada@ex_ample.org', 'a character that domains do not have'],
    ['ada@%65xample.org', 'a character that domains do not have'],
    ['ada@[192.0.2.1]', 'address literals'],
    ['ada@192.0.2.1', 'ends with a number'],
    ['ada@１９２.0.2.１', 'no name of a host'],
    ['ada@example.0x7f', 'ends with a number'],
    ['ada@example', 'the domain has no dot'],
    ['ada@.example.org', 'no name of a host'],
    ['ada@example..org', 'no name of a host'],
    ['ada@example.org.', 'no name of a host'],
    ['ada@-example.org', 'no name of a host'],
    ['ada@example-.org', 'no name of a host'],
    ['ada@xn--zzzzzz-.org', 'no name of a host'],
    [`ada@${'d'.repeat(64)}.org`, 'no name of a host'],
    [`${'l'.repeat(65)}@example.org`, 'longer than 64 octets'],
    [`${'ü'.repeat(33)}@example.org`, 'longer than 64 octets'],
    [`${L64}@d.${D189}`, 'longer than 254 octets'],
    ['ada@printer.local', 'none of the public name system'],
    ['ada@db.internal', 'none of the public name system'],
    ['ada@me.example', 'none of the public name system'],
  ])('%s is none', (text, reason) => {
    const read = readMailAddress(text)
    expect(read.valid ? 'valid' : read.reason).toMatch(new RegExp(reason))
  })
})
