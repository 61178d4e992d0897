import { describe, expect, it } from 'vitest'
import type { Holder } from '../../../../consensus/primitives/fair-share.ts'
import { WaitingRoom } from '../../../../marketplace/till/waiting-room.ts'
import { TestTime } from '../../../support/market-parts.ts'
import { filled } from '../../../support/unsigned.ts'

const PAYMENT = filled(1)
/** The most calls that may wait, in all and for one payment. */
const [ALL, ONE] = [256, 64]

/** Work that ends when the test says so. */
function held(room: WaitingRoom, txId = PAYMENT, from?: Holder) {
  let end: (outcome: 'done' | 'failed') => void = () => {}
  const work = new Promise<string>((resolve, reject) => {
    end = (outcome) => (outcome === 'done' ? resolve(outcome) : reject(new Error(outcome)))
  })
  return {
    answer: room.run({ paymentId: txId, from }, () => work),
    end: (outcome: 'done' | 'failed' = 'done') => end(outcome),
  }
}

describe('a waiting room', () => {
  it('gives the answer of the work', async () => {
    const room = new WaitingRoom(new TestTime())
    expect(await room.run({ paymentId: PAYMENT, from: undefined }, async () => 'done')).toBe('done')
  })

  it(`has ${ONE} places for one payment, and does not begin what it has no place for`, async () => {
    const room = new WaitingRoom(new TestTime())
    const waiting = Array.from({ length: ONE }, () => held(room))
    let begun = false
    const late = await room.run({ paymentId: PAYMENT, from: undefined }, async () => {
      begun = true
    })
    expect([late, begun]).toEqual([null, false])
    expect(await room.run({ paymentId: filled(2), from: undefined }, async () => 'another')).toBe('another')
    for (const { end } of waiting) end()
    expect(await Promise.all(waiting.map(({ answer }) => answer))).toEqual(waiting.map(() => 'done'))
    expect(await room.run({ paymentId: PAYMENT, from: undefined }, async () => 'again')).toBe('again')
  })

  it(`has ${ALL} places in all`, async () => {
    const room = new WaitingRoom(new TestTime())
    const waiting = Array.from({ length: ALL }, (_, i) => held(room, filled(1 + (i >> 6))))
    expect(await room.run({ paymentId: filled(9), from: undefined }, async () => 'late')).toBeNull()
    waiting[0]?.end()
    await waiting[0]?.answer
    expect(await room.run({ paymentId: filled(9), from: undefined }, async () => 'next')).toBe('next')
    for (const { end } of waiting) end()
  })

  it('has the place again when the work fails, once', async () => {
    const room = new WaitingRoom(new TestTime())
    const waiting = Array.from({ length: ONE }, () => held(room))
    waiting[0]?.end('failed')
    await expect(waiting[0]?.answer).rejects.toThrow('failed')
    const next = held(room)
    expect(await room.run({ paymentId: PAYMENT, from: undefined }, async () => 'late')).toBeNull()
    for (const { end } of [...waiting, next]) end()
    await Promise.all([...waiting.slice(1), next].map(({ answer }) => answer))
  })
})

describe('a waiting room that is full', () => {
  const caller = (network: string, address = network): Holder => ({ network, address })

  it.each([
    ['one caller', () => caller('192.0.2')],
    ['callers of one network', (i: number) => caller('192.0.2', `192.0.2.${i}`)],
    ['two callers', (i: number) => caller(`192.0.${i & 1}`)],
  ])('of %s makes room for another, whose own wait lasts', async (_, from) => {
    const room = new WaitingRoom(new TestTime())
    const waiting = Array.from({ length: ALL }, (__, i) => held(room, filled(1 + (i >> 6)), from(i)))
    const other = held(room, filled(9), caller('198.51.100'))
    expect(await Promise.race(waiting.map(({ answer }) => answer))).toBeNull()
    expect(await room.run({ paymentId: filled(10), from: from(0) }, async () => 'late')).toBeNull()
    for (const { end } of [...waiting, other]) end()
    expect(await other.answer).toBe('done')
    expect((await Promise.all(waiting.map(({ answer }) => answer))).filter((answer) => answer === null).length).toBe(1)
  })

  it('of calls for one payment makes room for another that waits for it', async () => {
    const room = new WaitingRoom(new TestTime())
    const waiting = Array.from({ length: ONE }, () => held(room, PAYMENT, caller('192.0.2')))
    const payer = held(room, PAYMENT, caller('198.51.100'))
    expect(await Promise.race(waiting.map(({ answer }) => answer))).toBeNull()
    for (const { end } of [...waiting, payer]) end()
    expect(await payer.answer).toBe('done')
  })

  it('ends the pause of the call that makes room, and leaves no timer behind', async () => {
    const time = new TestTime()
    const room = new WaitingRoom(time)
    const stayed: boolean[] = []
    const from = caller('192.0.2')
    const waiting = Array.from({ length: ONE }, () =>
      room.run({ paymentId: PAYMENT, from }, async (stay) => {
        stayed.push(await stay(100))
      }),
    )
    expect(time.waiting).toBe(ONE)
    await room.run({ paymentId: PAYMENT, from: caller('198.51.100') }, async () => {})
    expect(await Promise.race(waiting)).toBeNull()
    await Promise.resolve()
    expect([stayed, time.waiting]).toEqual([[false], ONE - 1])
    time.pass(100)
    await Promise.all(waiting)
  })
})

describe('a pause', () => {
  it('ends when its time is over, not before', async () => {
    const time = new TestTime()
    const room = new WaitingRoom(time)
    let over = false
    const pause = room.pause(100).then(() => {
      over = true
    })
    time.pass(99)
    await Promise.resolve()
    expect(over).toBe(false)
    time.pass(1)
    await pause
    expect(over).toBe(true)
  })

  it('ends when the room is woken, and leaves no timer behind', async () => {
    const time = new TestTime()
    const room = new WaitingRoom(time)
    const pauses = [room.pause(100), room.pause(200)]
    expect(time.waiting).toBe(2)
    room.wake()
    await Promise.all(pauses)
    expect(time.waiting).toBe(0)
  })

  it('that begins after the waking lasts', async () => {
    const time = new TestTime()
    const room = new WaitingRoom(time)
    room.wake()
    const pause = room.pause(100)
    expect(time.waiting).toBe(1)
    time.pass(100)
    await pause
  })
})
