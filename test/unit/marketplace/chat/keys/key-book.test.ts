import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { KeyWrites } from '../../../../../marketplace/chat/keys/key-book.ts'
import { readKeyRecord, readOwnerRecord } from '../../../../../marketplace/chat/keys/key-record.ts'
import { type ChatKey, OPERATOR } from '../../../../../marketplace/chat/keys/keys.ts'
import { BOUNDS, codeOf, FREE, made, openBook, seen, usage } from '../../../../support/key-book.ts'

const DAY_MS = 86_400_000

describe('a key', () => {
  it('is fk-, eight characters, and 32 random bytes in letters and digits', async () => {
    const { book } = openBook()
    const { key, secret } = await made(book)
    expect(secret).toMatch(/^fk-[0-9A-Za-z]{51}$/)
    expect(secret.slice(3, 11)).toBe(key.id)
    expect(JSON.stringify(book.list(OPERATOR))).not.toContain(secret.slice(11))
  })

  it('is known by nothing but all of it', async () => {
    const { book } = openBook()
    const { secret } = await made(book)
    expect(seen(book, secret).label).toBe('a key')
    expect(book.identify(`bearer ${secret}`).ok).toBe(true)
    const wrong = [undefined, '', 'Bearer', secret, `Basic ${secret}`, `Bearer ${secret}x`, `Bearer ${secret} x`]
    for (const header of wrong) expect([header, codeOf(book.identify(header))]).toEqual([header, 'chat/invalid-key'])
    for (let i = 3; i < secret.length; i++) {
      const other = `${secret.slice(0, i)}${secret[i] === 'a' ? 'b' : 'a'}${secret.slice(i + 1)}`
      expect([i, codeOf(book.identify(`Bearer ${other}`))]).toEqual([i, 'chat/invalid-key'])
    }
  })

  it('refuses hostile headers quickly, whatever they are', () => {
    const { book } = openBook()
    fc.assert(fc.property(fc.string({ maxLength: 300 }), (text) => codeOf(book.identify(text)) === 'chat/invalid-key'))
    expect(codeOf(book.identify(`Bearer ${' '.repeat(16_000)}`))).toBe('chat/invalid-key')
  })

  it('is refused once it is revoked or has expired, even if it was identified before', async () => {
    const { book, time } = openBook()
    const { secret } = await made(book)
    const key = seen(book, secret)
    const revoking = book.revoke(key.id, OPERATOR)
    expect(codeOf(book.admit(key))).toBe('chat/invalid-key')
    expect(codeOf(book.identify(`Bearer ${secret}`))).toBe('chat/invalid-key')
    expect(await revoking).toMatchObject({ ok: true, value: { state: 'revoked' } })
    const short = await made(book, OPERATOR, FREE, time.now() + 1_000)
    const shortKey = seen(book, short.secret)
    time.pass(1_000)
    expect(codeOf(book.admit(shortKey))).toBe('chat/invalid-key')
    expect(book.list(OPERATOR).map(({ state }) => state)).toEqual(['expired', 'revoked'])
  })

  it('is changed and ended only by its owner or the operator', async () => {
    const { book } = openBook()
    const { key } = await made(book, 'alice')
    expect(codeOf(await book.change(key.id, 'bob', { label: 'mine' }))).toBe('chat/no-key')
    expect(codeOf(await book.revoke(key.id, 'bob'))).toBe('chat/no-key')
    expect(book.list('bob')).toEqual([])
    expect(await book.change(key.id, 'alice', { label: ' new ' })).toMatchObject({ value: { label: 'new' } })
    expect(await book.change(key.id, OPERATOR, { limits: { rpm: 2, tpd: 5 } })).toMatchObject({
      value: { label: 'new', limits: { rpm: 2, tpd: 5 } },
    })
  })

  it('has a label that no terminal and no page is hurt by, and limits that are numbers', async () => {
    const { book } = openBook()
    for (const label of ['', '   ', 'x'.repeat(61), 'a\nb', 'a\u001b[2J', 'a\u202eb', '\ud800'])
      expect(codeOf(await book.create({ label, owner: OPERATOR, limits: FREE, expiresAtMs: null }))).toBe(
        'chat/invalid-request',
      )
    for (const rpm of [0, -1, 1.5, Number.NaN, Infinity, 2 ** 40])
      expect(
        codeOf(await book.create({ label: 'a', owner: OPERATOR, limits: { rpm, tpd: null }, expiresAtMs: null })),
      ).toBe('chat/invalid-request')
    expect(codeOf(await book.create({ label: 'a', owner: OPERATOR, limits: FREE, expiresAtMs: 5 }))).toBe(
      'chat/invalid-request',
    )
  })
})

describe('limits', () => {
  it('hold for a key, and for all keys of its owner together', async () => {
    const { book, time } = openBook()
    const slow = await made(book, 'alice', { rpm: 2, tpd: null })
    const other = await made(book, 'alice')
    const stranger = await made(book, 'bob')
    const chat = (secret: string): string | null => {
      const pass = book.admit(seen(book, secret))
      if (pass.ok) pass.value.done(null)
      return codeOf(pass)
    }
    expect([1, 2, 3].map(() => chat(slow.secret))).toEqual([null, null, 'chat/rate-limited'])
    expect(book.allowances(slow.key).requests).toMatchObject({ limit: 2, remaining: 0 })
    for (let i = 0; i < 8; i++) expect(chat(other.secret)).toBe(null)
    expect(chat(other.secret)).toBe('chat/rate-limited')
    expect(book.allowances(other.key).requests).toMatchObject({ limit: 10, remaining: 0 })
    expect(chat(stranger.secret)).toBe(null)
    time.pass(61_000)
    expect(chat(slow.secret)).toBe(null)
  })

  it('hold for each key of the operator by itself, who hands them to others', async () => {
    const { book } = openBook()
    const [one, two] = [await made(book), await made(book)]
    for (let i = 0; i < 3; i++) expect(book.admit(one.key).ok).toBe(true)
    expect(codeOf(book.admit(one.key))).toBe('chat/rate-limited')
    const pass = book.admit(two.key)
    if (!pass.ok) throw new Error('not let in')
    pass.value.done(usage(900, 100))
    expect(codeOf(book.admit(two.key))).toBe('chat/rate-limited')
    expect(book.allowances(one.key).tokens.remaining).toBe(1_000)
    expect(book.usedToday(OPERATOR)).toEqual({ requests: 4, promptTokens: 900, completionTokens: 100 })
  })

  it('are not used up by a chat that was not begun', async () => {
    const { book, time } = openBook()
    const { key, secret } = await made(book, 'alice', { rpm: 1, tpd: null })
    const admitted = () => {
      const pass = book.admit(key)
      if (!pass.ok) throw new Error('not let in')
      return pass.value
    }
    for (let i = 0; i < 20; i++) {
      const pass = admitted()
      pass.cancel()
      // Calls after the end have no effect.
      pass.cancel()
      pass.done(usage(5, 5))
    }
    expect(book.allowances(key).requests.remaining).toBe(1)
    expect(seen(book, secret)).toMatchObject({ usedToday: { requests: 0 }, usedInAll: { requests: 0 } })
    const late = admitted()
    time.pass(DAY_MS)
    admitted().done(usage(1, 1))
    late.cancel()
    expect(codeOf(book.admit(key))).toBe('chat/rate-limited')
    const figures = { requests: 1, promptTokens: 1, completionTokens: 1 }
    expect(seen(book, secret)).toMatchObject({ usedToday: figures, usedInAll: figures })
    expect(book.usedToday('alice')).toEqual(figures)
    time.pass(61_000)
    const over = admitted()
    over.done(null)
    over.cancel()
    expect(codeOf(book.admit(key))).toBe('chat/rate-limited')
  })

  it('say how long to wait', async () => {
    const { book, time } = openBook()
    const { key } = await made(book, 'alice', { rpm: 1, tpd: null })
    expect(book.admit(key)).toMatchObject({ ok: true, value: { requests: { limit: 1, remaining: 0 } } })
    const refused = book.admit(key)
    if (refused.ok) throw new Error('it was let in')
    time.pass(Number(refused.fault.detail.seconds) * 1_000)
    expect(book.admit(key).ok).toBe(true)
  })

  it('count the tokens of a day until midnight, over all keys of an owner, ended ones too', async () => {
    const { book, time } = openBook()
    const first = await made(book, 'alice', { rpm: null, tpd: 100 })
    const pass = book.admit(first.key)
    if (!pass.ok) throw new Error('not let in')
    expect(pass.value.tokens).toMatchObject({ limit: 100, remaining: 100 })
    pass.value.done(usage(60, 50))
    expect(codeOf(book.admit(first.key))).toBe('chat/rate-limited')
    const second = await made(book, 'alice')
    const next = book.admit(second.key)
    if (!next.ok) throw new Error('not let in')
    next.value.done(usage(800, 90))
    await book.revoke(second.key.id, 'alice')
    const third = await made(book, 'alice')
    expect(codeOf(book.admit(third.key))).toBe('chat/rate-limited')
    expect(book.usedToday('alice')).toEqual({ requests: 2, promptTokens: 860, completionTokens: 140 })
    time.pass(DAY_MS)
    expect(book.admit(third.key).ok).toBe(true)
    expect(book.list('alice').find(({ id }) => id === first.key.id)).toMatchObject({
      usedToday: { requests: 0, promptTokens: 0 },
      usedInAll: { requests: 1, promptTokens: 60, completionTokens: 50 },
    })
  })

  it('give a place back once, whatever becomes of the chat', async () => {
    const { book } = openBook()
    const { key } = await made(book, 'alice')
    const passes = [1, 2, 3].map(() => book.admit(key))
    expect(codeOf(book.admit(key))).toBe('chat/rate-limited')
    const [first] = passes
    if (first?.ok !== true) throw new Error('not let in')
    for (let i = 0; i < 5; i++) first.value.done(usage(1, 1))
    expect(book.admit(key).ok).toBe(true)
    expect(codeOf(book.admit(key))).toBe('chat/rate-limited')
    expect(book.usedToday('alice').promptTokens).toBe(1)
  })

  it('are not moved by invalid figures', async () => {
    const { book } = openBook()
    const { key } = await made(book, 'alice')
    for (const tokens of [Number.NaN, -5, Infinity, 1.5]) {
      const pass = book.admit(key)
      if (pass.ok) pass.value.done(usage(tokens, 1))
    }
    expect(book.usedToday('alice')).toEqual({ requests: 4, promptTokens: 0, completionTokens: 4 })
  })

  it('stay such as are read again, whatever a backend says', async () => {
    const written: KeyWrites[] = []
    const { book } = openBook({ write: async (writes) => void written.push(writes) })
    const { key } = await made(book, 'alice')
    const passes = [book.admit(key), book.admit(key)]
    for (const pass of passes) if (pass.ok) pass.value.done(usage(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER))
    await book.flush()
    const [record] = written.at(-1)?.keys ?? []
    expect(record?.inAll.requests).toBe(2)
    expect(readKeyRecord(JSON.stringify(record))).toEqual(record)
    const [owner] = written.at(-1)?.owners ?? []
    expect(readOwnerRecord(JSON.stringify(owner))).toEqual(owner)
  })
})

describe('a wish', () => {
  it.each([
    ['longer than ten years', 3_651 * DAY_MS],
    ['longer than there are dates', 99_990_000 * DAY_MS],
  ])('for a key that lasts %s is refused', async (_, ms) => {
    const { book, time } = openBook()
    const wish = { label: 'x', owner: 'alice', limits: FREE, expiresAtMs: time.now() + ms }
    expect(codeOf(await book.create(wish))).toBe('chat/invalid-request')
    expect((await book.create({ ...wish, expiresAtMs: time.now() + 3_650 * DAY_MS })).ok).toBe(true)
  })

  it.each(['\u200b', '\u3164', '\ufeff\u2060', '\u{e0041}', '\u061cabc', '\ue000'])(
    'for a label that cannot be read as it is written is refused: %j',
    async (label) => {
      const { book } = openBook()
      const wish = { owner: 'alice', limits: FREE, expiresAtMs: null }
      expect(codeOf(await book.create({ ...wish, label }))).toBe('chat/invalid-request')
      for (const good of ['\ud83d\udc68\u200d\ud83d\udc69', '\u0645\u0641\u062a\u0627\u062d', '-'])
        expect((await openBook().book.create({ ...wish, label: good })).ok).toBe(true)
    },
  )
})

describe('room', () => {
  it('is there for so many live keys of an owner; of ended ones the oldest are forgotten', async () => {
    const { book, time } = openBook()
    const keys = []
    for (let i = 0; i < BOUNDS.keys; i++) keys.push((await made(book, 'alice')).key)
    expect(codeOf(await book.create({ label: 'x', owner: 'alice', limits: FREE, expiresAtMs: null }))).toBe(
      'chat/keys-full',
    )
    for (let round = 0; round < 10; round++) {
      const [newest] = book.list('alice')
      await book.revoke((newest as ChatKey).id, 'alice')
      time.pass(1)
      await made(book, 'alice')
    }
    expect(book.list('alice').filter(({ state }) => state === 'live')).toHaveLength(BOUNDS.keys)
    expect(book.list('alice').length).toBeLessThanOrEqual(2 * BOUNDS.keys)
  })

  it('is not taken from the operator, nor from keys that are used, by wallets that cost nothing', async () => {
    const { book, time } = openBook({ keysInAllMax: 20 })
    const mine = await made(book, OPERATOR)
    const used = await made(book, 'used')
    expect(book.admit(used.key).ok).toBe(true)
    const flood = async (name: string): Promise<string | null> =>
      codeOf(await book.create({ label: 'x', owner: name, limits: FREE, expiresAtMs: null }))
    for (let i = 0; i < 18; i++) expect(await flood(`wallet ${i}`)).toBe(null)
    expect(await flood('one more')).toBe('chat/no-room')
    expect(codeOf(await book.create({ label: 'x', owner: OPERATOR, limits: FREE, expiresAtMs: null }))).toBe(null)
    time.pass(DAY_MS + 1)
    for (let i = 0; i < 30; i++) await flood(`later ${i}`)
    expect(book.list(OPERATOR).length).toBeLessThanOrEqual(21)
    expect(book.identify(`Bearer ${mine.secret}`).ok).toBe(true)
    expect(book.identify(`Bearer ${used.secret}`).ok).toBe(true)
  })

  it('is not kept for ever by an owner who uses each of many keys once', async () => {
    const { book, time } = openBook({ keysInAllMax: 20 })
    const mine = await made(book, OPERATOR)
    expect(book.admit(mine.key).ok).toBe(true)
    for (let i = 0; i < 19; i++) expect(book.admit((await made(book, `wallet ${i}`)).key).ok).toBe(true)
    const busy = book.list('wallet 0')[0] as ChatKey
    time.pass(29 * DAY_MS)
    expect(book.admit(busy).ok).toBe(true)
    expect(codeOf(await book.create({ label: 'x', owner: 'honest', limits: FREE, expiresAtMs: null }))).toBe(
      'chat/no-room',
    )
    time.pass(2 * DAY_MS)
    await made(book, 'honest')
    expect([seen(book, mine.secret).state, book.list('wallet 0').length]).toEqual(['live', 1])
    expect([book.list('wallet 1').length, book.list('wallet 2').length]).toEqual([0, 1])
  })

  it('is counted right by those who make keys at once', async () => {
    const { book } = openBook()
    const wishes = Array.from({ length: 12 }, () =>
      book.create({ label: 'x', owner: 'alice', limits: FREE, expiresAtMs: null }),
    )
    const codes = (await Promise.all(wishes)).map(codeOf)
    expect(codes.filter((code) => code === null)).toHaveLength(BOUNDS.keys)
  })
})

describe('a disk that fails', () => {
  it('makes no key, ends keys nevertheless, and is tried again', async () => {
    let isBroken = false
    const written: KeyWrites[] = []
    const write = async (writes: KeyWrites): Promise<void> => {
      if (isBroken) throw new Error('the disk is full')
      written.push(writes)
    }
    const { book } = openBook({ write })
    const { key, secret } = await made(book, 'alice')
    isBroken = true
    await expect(made(book, 'alice')).rejects.toThrow('full')
    expect(book.list('alice')).toHaveLength(1)
    await expect(book.revoke(key.id, 'alice')).rejects.toThrow('full')
    expect(codeOf(book.identify(`Bearer ${secret}`))).toBe('chat/invalid-key')
    isBroken = false
    await book.flush()
    expect(written.at(-1)?.keys).toMatchObject([{ id: key.id, revokedAtMs: expect.any(Number) }])
  })

  it('never has an older figure written last', async () => {
    const revoked: boolean[] = []
    const write = async ({ keys }: KeyWrites): Promise<void> => {
      const [last] = keys
      if (last !== undefined) revoked.push(last.revokedAtMs !== null)
    }
    const { book } = openBook({ write })
    const { key } = await made(book, 'alice')
    book.admit(key)
    await Promise.all([book.flush(), book.revoke(key.id, 'alice'), book.flush()])
    expect(revoked.at(-1)).toBe(true)
  })
})
