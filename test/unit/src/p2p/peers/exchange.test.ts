import { expect, it } from 'vitest'
import { UNPACED } from '../../../../../consensus/chain/ports.ts'
import { fault } from '../../../../../consensus/primitives/fault.ts'
import { fail } from '../../../../../consensus/primitives/result.ts'
import type { Network, PeerId } from '../../../../../src/p2p/network.ts'
import { Exchange } from '../../../../../src/p2p/peers/exchange.ts'
import type { Offence } from '../../../../../src/p2p/peers/offences.ts'
import { askPatiently } from '../../../../../src/p2p/peers/patience.ts'
import { Peers } from '../../../../../src/p2p/peers/peers.ts'
import { Serving } from '../../../../../src/p2p/peers/serving.ts'
import { PROTOCOLS } from '../../../../../src/p2p/wire/protocols.ts'
import { TestChain } from '../../../../support/chain.ts'
import { MemoryNetwork } from '../../../../support/p2p/memory-network.ts'
import { statusOf } from '../../../../support/p2p/relay-node.ts'
import { VirtualTime } from '../../../../support/sim/virtual-clock.ts'
import { IMPATIENT, SILENT } from '../../../../support/wire.ts'

const MINUTES = 3
const PEER = 'a peer' as PeerId
const { deadlineMs } = PROTOCOLS.poolIds

/** Offences of a peer whose missing answer was noticed after `ms`. */
async function blameAfter(ms: number): Promise<readonly Offence[]> {
  const offences: Offence[] = []
  const conduct = {
    budgetOf: () => undefined,
    isReady: () => true,
    report: (_: PeerId, it: Offence) => offences.push(it),
  }
  let nowMs = 0
  const request: Network['request'] = async (_, protocol) => {
    nowMs += ms
    return fail(fault('p2p/timeout', { protocol, ms: deadlineMs }))
  }
  const clock = { now: () => nowMs }
  const serving = new Serving({ clock, timers: IMPATIENT, stopwatch: null, pacer: () => UNPACED })
  const exchange = new Exchange({ request } as Network, conduct, clock, serving)
  expect(await exchange.ask(PEER, 'poolIds', { cursor: 0 })).toMatchObject({ fault: { code: 'p2p/timeout' } })
  return offences
}

it('blames a peer for an answer that did not come in time, and not for the time in which this node stood still', async () => {
  expect(await blameAfter(deadlineMs)).toEqual(['timeout'])
  expect(await blameAfter(deadlineMs + 900)).toEqual(['timeout'])
  expect(await blameAfter(deadlineMs + 5_000)).toEqual([])
})

it('does not blame or hold up a peer that was refused for what others use, and asks again as nodes do', async () => {
  const like = await TestChain.open()
  const hub = new MemoryNetwork(new VirtualTime(like.nowMs))
  let workMs = 0
  const peersOf = (name: string): Peers => {
    const network = hub.join(name)
    const clock = { now: () => hub.time.nowMs }
    const common = { network, clock, timers: hub.time, log: SILENT, ruleBook: like.ruleBook }
    return new Peers({ ...common, ownStatus: () => statusOf(like.chain), stopwatch: () => workMs })
  }
  const [server, honest, greedy] = [peersOf('server'), peersOf('honest'), peersOf('greedy')]
  const blamed: PeerId[] = []
  server.onOffence((id) => blamed.push(id))
  const id = 'server' as PeerId
  for (const name of ['honest', 'greedy'] as PeerId[]) hub.connect(hub.peer(name), hub.peer(id))
  await hub.time.pass(100)
  server.exchange.answer('poolIds', () => {
    workMs += 10 * MINUTES * 60_000
    return { reply: { ids: [], next: 0 } }
  })
  for (const protocol of ['headers', 'bodies', 'announce', 'transactions', 'statePages'] as const)
    server.exchange.answer(protocol, () => ({ refusal: 'not-held' }))
  // The whole time budget for answers is used up.
  await Promise.all([greedy.exchange.ask(id, 'poolIds', { cursor: 0 }), hub.time.pass(100)])
  const patience = { peers: honest, timers: hub.time, times: Number.POSITIVE_INFINITY }
  void askPatiently(patience, id, 'headers', { locator: [], limit: 1 })
  // Two batches of bodies are under way at a time.
  for (const _ of [1, 2]) void askPatiently(patience, id, 'bodies', [])
  void askPatiently(patience, id, 'announce', [])
  void askPatiently(patience, id, 'transactions', [])
  void askPatiently(patience, id, 'statePages', { snapshot: like.chain.head.id, after: new Uint8Array(0), first: true })
  await hub.time.pass(MINUTES * 60_000)
  const asked = hub.peer(id).requests.filter(({ from }) => from === 'honest').length
  expect(asked).toBeGreaterThan(MINUTES * 60)
  expect(blamed).toEqual([])
  expect(server.budgetOf('honest' as PeerId)?.take('requests', 100)).toBe(true)
})
