import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OPERATOR } from '../../../../../marketplace/chat/keys/keys.ts'
import { Challenges } from '../../../../../rpc/chat/dashboard/challenges.ts'
import { KEYS_A_DAY_MAX, KeyMakers, NETWORK_KEYS_A_DAY_MAX } from '../../../../../rpc/chat/dashboard/key-makers.ts'
import { SESSIONS_MAX, Sessions } from '../../../../../rpc/chat/dashboard/sessions.ts'
import { SignInGuard } from '../../../../../rpc/chat/dashboard/sign-in-guard.ts'
import { Marks } from '../../../../../rpc/chat/dashboard/tokens.ts'
import { addressKey, holderOf } from '../../../../../rpc/edge/client-key.ts'
import { readForm } from '../../../../../rpc/edge/form.ts'
import { ManualTime } from '../../../../support/manual-time.ts'

function openTime(): ManualTime {
  const time = new ManualTime()
  time.pass(1_700_000_000_000)
  return time
}

describe('sessions', () => {
  const holder = holderOf('198.51.100.1')
  const ALICE = { owner: 'alice', stamp: '', holder }

  it('of strangers are so many at most, and never end the operator’s', () => {
    const sessions = new Sessions(openTime())
    const mine = sessions.begin({ owner: OPERATOR, stamp: 'x', holder })
    const tokens = Array.from({ length: SESSIONS_MAX + 88 }, (_, i) =>
      sessions.begin({ owner: `wallet ${i}`, stamp: '', holder }),
    )
    expect(sessions.find(mine)?.owner).toBe(OPERATOR)
    expect(tokens.filter((token) => sessions.find(token) !== null)).toEqual(tokens.slice(-SESSIONS_MAX))
  })

  it('go round among those who have as many: the longest unused of the newcomer’s own network, else of all', () => {
    const sessions = new Sessions(openTime())
    const beginFrom = (address: string) => sessions.begin({ owner: address, stamp: '', holder: holderOf(address) })
    const isThere = (token: string | undefined): boolean => token !== undefined && sessions.find(token) !== null
    const tokens = Array.from({ length: SESSIONS_MAX }, (_, i) => beginFrom(`10.${i >> 8}.${i & 255}.1`))
    const again = beginFrom('10.1.7.2')
    const other = beginFrom('198.51.100.1')
    expect([isThere(tokens[256 + 7]), isThere(again), isThere(tokens[0])]).toEqual([false, true, false])
    expect([isThere(other), tokens.filter(isThere).length]).toEqual([true, SESSIONS_MAX - 2])
  })

  it('of one owner are eight at most, those in use last to end', () => {
    const sessions = new Sessions(openTime())
    const tokens = Array.from({ length: 8 }, () => sessions.begin(ALICE))
    const [first, second] = tokens as [string, string]
    sessions.find(first)
    sessions.begin(ALICE)
    expect([sessions.find(first) !== null, sessions.find(second)]).toEqual([true, null])
  })
})

describe('who guesses', () => {
  it('from ever new addresses is stopped in the end, for no longer than an hour', () => {
    const time = openTime()
    const guard = new SignInGuard(time)
    let guesses = 0
    for (let i = 0; i < 10_000 && guard.waitSeconds(`10.0.${i >> 8}.${i & 255}`) === 0; i++) {
      guard.failed(`10.0.${i >> 8}.${i & 255}`)
      guesses += 1
    }
    expect(guesses).toBe(300)
    const wait = guard.waitSeconds('192.0.2.1')
    expect(wait).toBeGreaterThan(3_000)
    time.pass(wait * 1_000)
    expect(guard.waitSeconds('192.0.2.1')).toBe(0)
  })

  it('does not lock out users who gave the right password there before, nor users at the machine', () => {
    const time = openTime()
    const guard = new SignInGuard(time)
    guard.failed('192.0.2.1')
    guard.succeeded('192.0.2.1')
    for (let i = 0; i < 400; i++) guard.failed(`10.0.${i >> 8}.${i & 255}`)
    expect(guard.waitSeconds('192.0.2.2')).toBeGreaterThan(3_000)
    for (const address of ['192.0.2.1', '127.0.0.1', addressKey('::1')]) expect(guard.waitSeconds(address)).toBe(0)
    for (let i = 0; i < 10; i++) guard.failed('192.0.2.1')
    expect(guard.waitSeconds('192.0.2.1')).toBe(32)
  })

  it('is not charged for a password that was not checked', () => {
    const guard = new SignInGuard(openTime())
    for (let i = 0; i < 1_000; i++) {
      guard.failed('192.0.2.1')
      guard.unseen('192.0.2.1')
    }
    for (let i = 0; i < 4; i++) guard.failed('192.0.2.1')
    expect(guard.waitSeconds('192.0.2.1')).toBe(0)
    expect(guard.waitSeconds('192.0.2.2')).toBe(0)
  })

  it('waits a quarter of an hour at most', () => {
    const time = openTime()
    const guard = new SignInGuard(time)
    for (let i = 0; i < 40; i++) guard.failed('192.0.2.1')
    expect(guard.waitSeconds('192.0.2.1')).toBe(900)
    expect(guard.waitSeconds('192.0.2.2')).toBe(0)
  })
})

describe('who makes keys', () => {
  it('makes so many a day from one address, and others as many from theirs', () => {
    const time = openTime()
    const makers = new KeyMakers(time)
    const [one, other] = [holderOf('192.0.2.1'), holderOf('192.0.2.2')]
    for (let i = 0; i < KEYS_A_DAY_MAX; i++) {
      expect(makers.waitSeconds(one)).toBe(0)
      makers.made(one)
    }
    expect([makers.waitSeconds(one), makers.waitSeconds(other)]).toEqual([86_400, 0])
    time.pass(86_400_000)
    makers.made(other)
    expect(makers.waitSeconds(one)).toBe(0)
  })

  it('makes so many a day from one network, however many of its addresses are its own', () => {
    const makers = new KeyMakers(openTime())
    const of = (i: number, network = 1) => holderOf(addressKey(`2001:db8:${network}:${i.toString(16)}::1`))
    for (let i = 0; i < NETWORK_KEYS_A_DAY_MAX; i++) makers.made(of(i))
    expect([makers.waitSeconds(of(10_000)), makers.waitSeconds(of(1, 2))]).toEqual([86_400, 0])
  })
})

describe('a challenge', () => {
  const place = { host: 'node.example', network: 'devnet, genesis 00', token: 'a token' }

  it('is good at its place alone, and not once a letter of it is another', () => {
    const time = openTime()
    const challenges = new Challenges(time, new Marks())
    const text = challenges.make(place)
    expect(challenges.check(place, text).ok).toBe(true)
    for (const other of [{ host: 'evil.example' }, { network: 'mainnet' }, { token: 'b token' }])
      expect(challenges.check({ ...place, ...other }, text).ok).toBe(false)
    expect(new Challenges(time, new Marks()).check(place, text).ok).toBe(false)
    for (let i = 0; i < text.length; i++)
      expect(challenges.check(place, `${text.slice(0, i)}~${text.slice(i + 1)}`).ok).toBe(false)
  })

  it('is none in any other text', () => {
    const challenges = new Challenges(openTime(), new Marks())
    fc.assert(fc.property(fc.string(), (text) => !challenges.check(place, text).ok))
    const long = `${' Valid until '.repeat(700)}${'x'.repeat(900)}`
    expect(challenges.check(place, long).ok).toBe(false)
  })
})

describe('a form', () => {
  it('gives back what was sent, by any name', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 20 })
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(text, text), { selector: ([name]) => name, maxLength: 30 }), (fields) => {
        const sent = new URLSearchParams(fields.map(([name, value]) => [name, value])).toString()
        expect(Object.entries(readForm(sent) ?? {}).sort()).toEqual([...fields].sort())
      }),
    )
  })

  it('has so many fields at most, each once', () => {
    expect(readForm('a=1&a=2')).toBe(undefined)
    expect(readForm('a&'.repeat(500_000))).toBe(undefined)
    expect(Object.entries(readForm('__proto__=1') ?? {})).toEqual([['__proto__', '1']])
  })
})
