import { afterAll, expect, it } from 'vitest'
import { ask } from '../support/api.ts'
import { Caller, marketOpen } from '../support/caller.ts'
import { Workshop } from '../support/daemon.ts'
import { EventFeed, Follower } from '../support/event-feed.ts'
import { until } from '../support/processes.ts'

const workshop = new Workshop()
const env = { TEST_FAST_BLOCKS: '1' }
const feeds: EventFeed[] = []

afterAll(() => {
  for (const feed of feeds) feed.close()
})

async function followed(url: string, lastId?: string): Promise<EventFeed> {
  const feed = await EventFeed.open(url, '/api/v1/events', lastId)
  feeds.push(feed)
  return feed
}

it('a reader that comes back to a node that was killed and started again has missed nothing', async () => {
  const folder = workshop.folder()
  const first = await workshop.start(folder, { env })
  await marketOpen(first.url)
  const feed = await followed(first.url)
  const buyer = new Caller(first.url, 1)
  const sold: string[] = []
  const buy = async (request: string): Promise<void> => {
    const payment = await buyer.payMined({ serviceId: 'node-test-again', request })
    await buyer.settle(payment)
    sold.push(payment.txId)
  }
  await buy('ok:1')
  await buy('fail:2')
  await until('both calls are told', () => sold.every((txId) => feed.events.some(({ data }) => data.txId === txId)))
  feed.close()
  await buy('ok:3')
  await first.kill()
  const second = await workshop.start(folder, { env })
  buyer.url = second.url
  const back = await followed(second.url, feed.lastId)
  await until('the call that no reader was told of is told', () =>
    back.events.some(({ data }) => data.txId === sold[2]),
  )
  await marketOpen(second.url)
  await buy('ok:4')
  await until('what happens now is told', () => back.events.some(({ data }) => data.txId === sold[3]))
  const follower = new Follower()
  for (const event of [...feed.events, ...back.events]) follower.apply(event)
  expect([follower.oddities, follower.resets]).toEqual([[], 0])
  expect(sold.map((txId) => follower.closed.get(txId)?.how)).toEqual(['delivered', 'failed', 'delivered', 'delivered'])
  for (const { id, height } of follower.blocks.slice(-20)) {
    expect((await ask(second.url, `/api/v1/blocks/${height}`)).body.id).toBe(id)
  }
  expect((await second.stop()).code).toBe(0)
})
