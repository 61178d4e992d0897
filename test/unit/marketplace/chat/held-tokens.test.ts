import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { KeyBook, type KeyWrites } from '../../../../marketplace/chat/keys/key-book.ts'
import { type ChatKey, type ChatKeys, OPERATOR } from '../../../../marketplace/chat/keys/keys.ts'
import { keySeals } from '../../../../src/chat/stores/chat-key-seals.ts'
import { BOUNDS, codeOf, made, openBook, seen, usage } from '../../../support/key-book.ts'

const DAY_MS = 86_400_000

describe('tokens of chats that are under way', () => {
  function admitted(book: ChatKeys, key: ChatKey, expected: number) {
    const pass = book.admit(key, () => expected)
    if (!pass.ok) throw new Error(JSON.stringify(pass.fault))
    return pass.value
  }

  it('are held until each is over: a caller refused meanwhile may come again soon', async () => {
    const { book } = openBook()
    const { key } = await made(book)
    const first = admitted(book, key, 600)
    expect(first.tokens).toMatchObject({ limit: 1_000, remaining: 400 })
    const second = admitted(book, key, 600)
    expect(second.tokens.remaining).toBe(0)
    expect(book.allowances(key).tokens).toMatchObject({ remaining: 0, resetMs: DAY_MS })
    const refused = book.admit(key, () => 1)
    expect(refused).toMatchObject({ ok: false, fault: { code: 'chat/rate-limited', detail: { seconds: 1 } } })
    first.done(usage(10, 10))
    expect(book.allowances(key).tokens.remaining).toBe(380)
    second.cancel()
    expect(book.allowances(key).tokens.remaining).toBe(980)
    admitted(book, key, 600).done(usage(500, 480))
    // Used tokens are available again only tomorrow, unlike reserved ones.
    const late = book.admit(key, () => 1)
    expect(late).toMatchObject({ ok: false, fault: { detail: { seconds: DAY_MS / 1_000 } } })
  })

  it('are not counted for a chat that is refused', async () => {
    const { book } = openBook()
    const { key } = await made(book)
    admitted(book, key, 1_000)
    const unread = (): number => {
      throw new Error('it was read')
    }
    expect(codeOf(book.admit(key, unread))).toBe('chat/rate-limited')
  })

  it('keep no caller out who is alone, however many are expected', async () => {
    const { book } = openBook()
    const { key } = await made(book, 'alice', { rpm: null, tpd: 100 })
    for (const expected of [1_000_000, Number.MAX_SAFE_INTEGER, Number.NaN, -1_000_000, Infinity, 0.5])
      admitted(book, key, expected).done(usage(1, 1))
    expect(book.allowances(key).tokens.remaining).toBe(88)
  })

  it('are held for all keys of a wallet together, and for each key of the operator', async () => {
    const { book } = openBook()
    const [one, two] = [await made(book, 'alice'), await made(book, 'alice', { rpm: null, tpd: 900 })]
    const pass = admitted(book, one.key, 700)
    expect(book.allowances(two.key).tokens).toMatchObject({ limit: 1_000, remaining: 300 })
    admitted(book, two.key, 700)
    expect([one, two].map(({ key }) => codeOf(book.admit(key)))).toEqual(Array(2).fill('chat/rate-limited'))
    pass.done(null)
    // Now the key's own limit is the tighter one.
    expect(book.allowances(two.key).tokens).toMatchObject({ limit: 900, remaining: 200 })
    const [mine, other] = [await made(book), await made(book)]
    admitted(book, mine.key, 5_000)
    expect(codeOf(book.admit(mine.key))).toBe('chat/rate-limited')
    expect(book.allowances(other.key).tokens.remaining).toBe(1_000)
  })

  it('say to come tomorrow where one limit is used up and another one held', async () => {
    const { book } = openBook()
    const [one, two] = [await made(book, 'alice'), await made(book, 'alice', { rpm: null, tpd: 100 })]
    admitted(book, one.key, 0).done(usage(999, 1))
    expect(book.admit(two.key)).toMatchObject({ ok: false, fault: { detail: { seconds: DAY_MS / 1_000 } } })
    const fresh = openBook()
    const [big, small] = [await made(fresh.book, 'bob'), await made(fresh.book, 'bob', { rpm: null, tpd: 100 })]
    admitted(fresh.book, small.key, 0).done(usage(100, 0))
    admitted(fresh.book, big.key, 5_000)
    expect(fresh.book.admit(small.key)).toMatchObject({ ok: false, fault: { detail: { seconds: DAY_MS / 1_000 } } })
  })

  it('are gone with the process, and what was used is not', async () => {
    const written: KeyWrites[] = []
    const write = async (writes: KeyWrites): Promise<void> => void written.push(writes)
    const { book, time } = openBook({ write })
    const { key, secret } = await made(book)
    admitted(book, key, 300).done(usage(100, 100))
    admitted(book, key, 800)
    await book.flush()
    const { keys, owners } = written.at(-1) as KeyWrites
    const seals = keySeals(new Uint8Array(32).fill(7))
    const again = new KeyBook({ bounds: BOUNDS, clock: time, seals, write, kept: { keys, owners } })
    expect(again.allowances(seen(again, secret)).tokens.remaining).toBe(800)
  })

  it('bound what is used too much by one chat, however many run at once', async () => {
    const chat = fc.record({
      expected: fc.integer({ min: 1, max: 400 }),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
    })
    const steps = fc.array(fc.oneof(chat, fc.constant('end' as const)), { minLength: 1, maxLength: 80 })
    await fc.assert(
      fc.asyncProperty(steps, async (plan) => {
        const { book } = openBook({ bounds: { rpm: 1_000, concurrent: 1_000 } })
        const { key } = await made(book)
        const under: (() => void)[] = []
        for (const step of plan) {
          if (step === 'end') {
            under.shift()?.()
            continue
          }
          const pass = book.admit(key, () => step.expected)
          if (pass.ok) under.push(() => pass.value.done(usage(Math.floor(step.expected * step.share), 0)))
        }
        for (const end of under) end()
        expect(book.usedToday(OPERATOR).promptTokens).toBeLessThan(BOUNDS.tpd + 400)
        expect(book.allowances(key).tokens.remaining).toBe(
          Math.max(0, BOUNDS.tpd - book.usedToday(OPERATOR).promptTokens),
        )
      }),
    )
  })
})
