import { describe, expect, it } from 'vitest'
import type { Caller } from '../../../../marketplace/till/failing-callers.ts'
import { WorkSlots } from '../../../../marketplace/till/workshop.ts'

const PLACES = 16

/** Records pieces of work in the order in which they begin. The test ends each of them. */
class Bench {
  readonly slots: WorkSlots
  readonly begun: number[] = []
  readonly #ends = new Map<number, (failure?: Error) => void>()

  constructor(goesLast: (caller: Caller) => boolean = () => false) {
    this.slots = new WorkSlots({ goesLast: () => goesLast })
  }

  run(number: number, who?: Caller | string): Promise<number> {
    return this.slots.run(() => {
      this.begun.push(number)
      return new Promise((resolve, reject) => {
        this.#ends.set(number, (failure) => (failure === undefined ? resolve(number) : reject(failure)))
      })
    }, who)
  }

  async end(number: number, failure?: Error): Promise<void> {
    this.#ends.get(number)?.(failure)
    for (let i = 0; i < 10; i++) await Promise.resolve()
  }
}

const caller = (payer: string, address: string, network = address): Caller => ({ payer, client: { address, network } })

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i)

describe('places for work', () => {
  it(`are ${PLACES}; the rest waits in the order of its arrival`, async () => {
    const bench = new Bench()
    const runs = upTo(PLACES + 3).map((number) => bench.run(number))
    expect(bench.begun).toEqual(upTo(PLACES))
    await bench.end(5)
    expect(bench.begun).toEqual(upTo(PLACES + 1))
    await bench.end(PLACES)
    await bench.end(0)
    expect(bench.begun).toEqual(upTo(PLACES + 3))
    for (const number of upTo(PLACES + 3)) await bench.end(number)
    expect(await Promise.all(runs)).toEqual(upTo(PLACES + 3))
  })

  it('go to the payer who has the fewest, and then to the one who came first', async () => {
    const bench = new Bench()
    for (const number of upTo(40)) void bench.run(number, 'greedy')
    void bench.run(100, 'modest')
    void bench.run(101, 'modest')
    void bench.run(102, 'other')
    for (const number of [0, 1, 2, 3]) await bench.end(number)
    expect(bench.begun.slice(PLACES)).toEqual([100, 102, 101, 16])
  })

  it('go to the client that has the fewest, however many payers it makes', async () => {
    const bench = new Bench()
    for (const number of upTo(40)) void bench.run(number, caller(`payer ${number}`, 'crowd'))
    void bench.run(100, caller('modest', 'other'))
    void bench.run(101, caller('another', 'other'))
    for (const number of [0, 1, 2]) await bench.end(number)
    expect(bench.begun.slice(PLACES)).toEqual([100, 101, 16])
  })

  it('go to the payer of a client that has the fewest', async () => {
    const bench = new Bench()
    for (const number of upTo(40)) void bench.run(number, caller('greedy', 'shared'))
    void bench.run(100, caller('modest', 'shared'))
    for (const number of [0, 1]) await bench.end(number)
    expect(bench.begun.slice(PLACES)).toEqual([100, 16])
  })

  it('go to the network that has the fewest for each of the clients that it counts as', async () => {
    const bench = new Bench()
    for (const number of upTo(40)) void bench.run(number, caller(`payer ${number}`, `10.0.0.${number}`, '10.0.0'))
    void bench.run(100, caller('modest', '10.0.1.1', '10.0.1'))
    for (const number of [0, 1]) await bench.end(number)
    expect(bench.begun.slice(PLACES)).toEqual([100, 16])
  })

  it('go to the payer who goes last when no other waits, and are as many for him as for others', async () => {
    const bench = new Bench(({ payer }) => payer === 'failing')
    for (const number of upTo(PLACES)) void bench.run(number, 'greedy')
    void bench.run(100, 'failing')
    for (const number of [50, 51]) void bench.run(number, 'greedy')
    for (const number of [0, 1, 2]) await bench.end(number)
    expect(bench.begun.slice(PLACES)).toEqual([50, 51, 100])
  })

  it('are free again after work that fails', async () => {
    const bench = new Bench()
    const runs = upTo(PLACES + 1).map((number) => bench.run(number))
    const failure = new Error('it failed')
    const failed = expect(runs[3]).rejects.toBe(failure)
    await bench.end(3, failure)
    await failed
    expect(bench.begun.at(-1)).toBe(PLACES)
    for (const number of upTo(PLACES + 1)) await bench.end(number)
  })

  it('are as many after a rush as before', async () => {
    const bench = new Bench()
    for (let round = 0; round < 3; round++) {
      bench.begun.length = 0
      const numbers = upTo(PLACES * 2)
      const runs = numbers.map((number) => bench.run(number))
      expect(bench.begun.length).toBe(PLACES)
      for (const number of numbers) await bench.end(number)
      await Promise.all(runs)
    }
  })
})
