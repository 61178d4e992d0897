import { describe, expect, it } from 'vitest'
import { Admission, type Leave, WAITING_PER_PLACE } from '../../../../../marketplace/chat/models/admission.ts'
import { ManualTime } from '../../../../support/manual-time.ts'

const LIMITS = { rpm: null, tpm: null, concurrency: 2, priority: 0, timeoutMs: 1_000 }
const WAITING = LIMITS.concurrency * WAITING_PER_PLACE

/** An admission, with a record of the callers it admitted or refused, in order. */
function admissionOf() {
  const time = new ManualTime()
  const admission = new Admission(LIMITS, time, time)
  const told: string[] = []
  const leaves: Leave[] = []
  const never = new AbortController().signal
  const come = (name: string, who?: string, signal = never): void => {
    void admission.enter(1, signal, who).then((how) => {
      told.push(typeof how === 'string' ? `${name} ${how}` : name)
      if (typeof how !== 'string') leaves.push(how)
    })
  }
  const settle = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve))
  const leave = async (): Promise<void> => {
    await settle()
    leaves.shift()?.(null)
    await settle()
  }
  return { admission, told, come, leave, settle }
}

describe('who comes to a backend', () => {
  it('is let in before the further requests of one who has some inside', async () => {
    const { told, come, leave } = admissionOf()
    for (let i = 0; i < 6; i++) come(`greedy ${i}`, 'greedy')
    come('modest', 'modest')
    come('nobody')
    await leave()
    await leave()
    await leave()
    expect(told).toEqual(['greedy 0', 'greedy 1', 'modest', 'greedy 2', 'nobody'])
  })

  it('in the order of their coming where all have as much', async () => {
    const { told, come, leave } = admissionOf()
    for (const who of ['a', 'b', 'c', 'd', 'c']) come(who, who)
    for (let i = 0; i < 3; i++) await leave()
    expect(told).toEqual(['a', 'b', 'c', 'd', 'c'])
  })

  it('finds room to wait where another has more waiting, whose last request is refused', async () => {
    const { admission, told, come, settle } = admissionOf()
    for (let i = 0; i < WAITING + 2; i++) come(`greedy ${i}`, 'greedy')
    come('modest', 'modest')
    come('greedy once more', 'greedy')
    await settle()
    expect(new Set(told)).toEqual(
      new Set(['greedy 0', 'greedy 1', `greedy ${WAITING + 1} full`, 'greedy once more full']),
    )
    expect(admission.waiting).toBe(WAITING)
  })

  it('finds none where no caller has more than one waiting', async () => {
    const { told, come, settle } = admissionOf()
    for (let i = 0; i < WAITING + 2; i++) come(`one ${i}`, `one ${i}`)
    come('late', 'late')
    come('nobody')
    await settle()
    expect(told.slice(2)).toEqual(['late full', 'nobody full'])
  })

  it('who was refused, or gives up, takes no place and is not let in later', async () => {
    const { admission, told, come, leave } = admissionOf()
    const gone = new AbortController()
    come('first', 'a')
    come('second', 'a')
    come('third', 'b', gone.signal)
    come('fourth', 'c')
    gone.abort()
    for (let i = 0; i < 3; i++) await leave()
    expect(told.toSorted()).toEqual(['first', 'fourth', 'second', 'third aborted'])
    expect([admission.inside, admission.waiting]).toEqual([0, 0])
  })
})

describe('what is free', () => {
  const limits = { ...LIMITS, concurrency: 4, rpm: 40, tpm: 4_000 }
  const never = new AbortController().signal

  it('leaves places, waiting and allowances to what is paid', async () => {
    const time = new ManualTime()
    const admission = new Admission(limits, time, time)
    const told: string[] = []
    for (let i = 0; i < 100; i++)
      void admission.enter(100, never, `free ${i}`, true).then((how) => void told.push(String(how)))
    await new Promise((resolve) => setImmediate(resolve))
    const max = limits.concurrency * WAITING_PER_PLACE
    expect([admission.inside, admission.waiting]).toEqual([3, (max * 3) / 4])
    expect(told.filter((how) => how === 'full')).toHaveLength(100 - 3 - (max * 3) / 4)
    expect(admission.tryEnter(100)).not.toBeNull()
    for (let i = 0; i < max / 4; i++)
      void admission.enter(100, never, `paid ${i}`).then((how) => void told.push(String(how)))
    await new Promise((resolve) => setImmediate(resolve))
    expect(admission.waiting).toBe(max)
  })

  it('comes after what is paid, where there is one place alone', async () => {
    const time = new ManualTime()
    const admission = new Admission({ ...LIMITS, concurrency: 1 }, time, time)
    const order: string[] = []
    const leave = admission.tryEnter(1, 'first', true) as Leave
    const enter = (name: string, isFree: boolean) =>
      admission.enter(1, never, name, isFree).then((how) => {
        order.push(name)
        if (typeof how !== 'string') how(null)
      })
    const all = [enter('free', true), enter('paid', false)]
    leave(null)
    await Promise.all(all)
    expect(order).toEqual(['paid', 'free'])
  })
})
