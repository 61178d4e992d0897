import fc from 'fast-check'
import { Value } from 'typebox/value'
import { describe, expect, it } from 'vitest'
import type { Block } from '../../consensus/block/block.ts'
import { EVENT_DATA, type EventName } from '../../rpc/contract/events.ts'
import { seeded } from '../sim/miners.ts'
import { ApiServer } from '../support/api-server.ts'
import { blocksFrom, importAll, PROVEN_WORK } from '../support/branches.ts'
import { TestChain } from '../support/chain.ts'
import { escrowHistory, tabHistory, toldMoves } from '../support/closings.ts'
import { EventFeed, type FedEvent, Follower } from '../support/event-feed.ts'
import { until } from '../support/processes.ts'
import { RandomChain, restlessRuleBook } from '../support/random-chain.ts'
import { runs } from '../support/runs.ts'

type Act =
  | { readonly is: 'grow'; readonly count: number }
  | { readonly is: 'fork'; readonly depth: number; readonly longer: number }
  | { readonly is: 'connect' }
  | { readonly is: 'hang-up'; readonly forget: number }

const grow = fc.record({ is: fc.constant('grow' as const), count: fc.integer({ min: 1, max: 8 }) })
const acts: fc.Arbitrary<Act> = fc.oneof(
  grow,
  fc.record({
    is: fc.constant('fork' as const),
    depth: fc.integer({ min: 1, max: 6 }),
    longer: fc.integer({ min: 1, max: 3 }),
  }),
  fc.record({ is: fc.constant('connect' as const) }),
  fc.record({ is: fc.constant('hang-up' as const), forget: fc.integer({ min: 0, max: 4 }) }),
)

/** A reader that loses its connection and with it the last events. It knows only the events that it applied. */
class Reader {
  readonly follower = new Follower()
  readonly #url: string
  #feed: EventFeed | null = null
  #applied = 0
  #lastId: string

  constructor(url: string, start: string) {
    this.#url = url
    this.#lastId = start
  }

  async connect(): Promise<void> {
    if (this.#feed !== null) return
    this.#feed = await EventFeed.open(this.#url, '/api/v1/events', this.#lastId)
    this.#applied = 0
    expect(this.#feed.status).toBe(200)
  }

  hangUp(forget: number): void {
    this.#apply(forget)
    this.#feed?.close()
    this.#feed = null
  }

  /** Reads until it has heard of a block. */
  async catchUp(id: string): Promise<void> {
    await until('the reader knows the head', () => {
      this.#apply(0)
      return this.follower.blocks.at(-1)?.id === id || this.#lastId.startsWith(id)
    })
  }

  #apply(forget: number): void {
    const events: readonly FedEvent[] = this.#feed?.events ?? []
    for (const event of events.slice(this.#applied, Math.max(this.#applied, events.length - forget))) {
      expect(Value.Check(EVENT_DATA[event.event as EventName], event.data), JSON.stringify(event)).toBe(true)
      this.follower.apply(event)
      this.#lastId = event.id
      this.#applied += 1
    }
  }
}

async function carryOut(script: readonly Act[], seed: number): Promise<void> {
  const server = await ApiServer.open({}, null, restlessRuleBook())
  try {
    let builder = new RandomChain(await TestChain.open(restlessRuleBook()), seeded(seed))
    const { chain } = server.test
    const take = async (blocks: readonly Block[]): Promise<void> => {
      await importAll(server.test, blocks, PROVEN_WORK)
    }
    const reader = new Reader(server.url, `${chain.head.id}.0`)
    for (const act of script) {
      if (act.is === 'grow') await take(await builder.grow(act.count))
      else if (act.is === 'connect') await reader.connect()
      else if (act.is === 'hang-up') reader.hangUp(act.forget)
      else {
        const depth = Math.min(act.depth, builder.test.height)
        builder = await builder.branch(builder.test.height - depth)
        await take(await builder.grow(depth + act.longer))
      }
    }
    await reader.connect()
    await reader.catchUp(chain.head.id)
    reader.hangUp(0)
    const { blocks, closed, tabs, oddities, resets } = reader.follower
    expect(oddities).toEqual([])
    expect(resets).toBe(0)
    expect(blocks.map(({ id }) => id)).toEqual(blocksFrom(server.test, 1).map(({ id }) => id))
    const { closings } = await escrowHistory(server.url, server.test.height)
    const told = [...closed].map(([txId, { how, height }]) => [txId, [{ how, height }]] as const)
    expect(new Map(told)).toEqual(closings)
    expect(toldMoves(tabs.map(({ step }) => step))).toEqual(await tabHistory(server.url, server.test.height))
    expect(server.errors).toEqual([])
  } finally {
    await server.close()
  }
}

describe('a reader of events', () => {
  it('knows what the chain says, wherever it lost its connection and whatever left the chain meanwhile', async () => {
    const scripts = fc.array(acts, { minLength: 4, maxLength: 14 })
    await fc.assert(
      fc.asyncProperty(grow, scripts, fc.nat(), (first, script, seed) => carryOut([first, ...script], seed)),
      { numRuns: runs(12), examples: [[GROWN, FORK_UNSEEN, 7]] },
    )
  }, 300_000)
})

const GROWN = { is: 'grow', count: 8 } as const
/** A fork below the last read block while the reader is disconnected, and another while it is connected. */
const FORK_UNSEEN: Act[] = [
  { is: 'connect' },
  { is: 'grow', count: 8 },
  { is: 'hang-up', forget: 3 },
  { is: 'fork', depth: 6, longer: 2 },
  { is: 'connect' },
  { is: 'fork', depth: 5, longer: 1 },
]
