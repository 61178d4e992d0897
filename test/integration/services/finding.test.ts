import { randomBytes } from 'node:crypto'
import { afterEach, expect, test } from 'vitest'
import type { FoundBy } from '../../../src/p2p/host/discovery.ts'
import type { Host } from '../../../src/p2p/host/host.ts'
import { begin, connect, makeHost } from '../../support/hosts.ts'
import { until } from '../../support/processes.ts'

const hosts: Host[] = []
const rejections: unknown[] = []
process.on('unhandledRejection', (reason) => rejections.push(reason))

afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.stop()))
  expect(rejections.splice(0)).toEqual([])
})

/** A started host that records the peers that it found. */
async function finding(options: Parameters<typeof makeHost>[0]) {
  const host = await makeHost(options)
  hosts.push(host)
  const found: { readonly peer: string; readonly addresses: readonly string[]; readonly by: FoundBy }[] = []
  host.finder.onFound((peer, addresses, by) => found.push({ peer, addresses, by }))
  await begin(host)
  const knows = (other: Host, by: FoundBy): boolean =>
    found.some((each) => each.by === by && each.peer === other.self && each.addresses.some((text) => isAt(text, other)))
  return { host, knows }
}

/** Whether an address belongs to a host, with or without its id. */
function isAt(text: string, host: Host): boolean {
  return host.addresses().some((own) => own === text || own.startsWith(`${text}/p2p/`))
}

// A random network: otherwise other nodes on this machine would be found, too.
const genesis = randomBytes(32).toString('hex')

test('nodes of one network on one machine find each other by mDNS, those of another do not', async () => {
  const [a, b] = [await finding({ genesis, mdns: true }), await finding({ genesis, mdns: true })]
  const stranger = await finding({ genesis: randomBytes(32).toString('hex'), mdns: true })
  await until('they know each other', () => a.knows(b.host, 'mdns') && b.knows(a.host, 'mdns'), { ms: 60_000 })
  expect([stranger.knows(a.host, 'mdns'), a.knows(stranger.host, 'mdns')]).toEqual([false, false])
})

test('nodes that know the same third node find each other in the table of nodes', async () => {
  const third = await finding({ genesis, dht: true })
  const [a, b] = [await finding({ genesis, dht: true }), await finding({ genesis, dht: true })]
  await connect(a.host, third.host)
  await connect(b.host, third.host)
  const look = async (): Promise<boolean> => {
    await Promise.all([a.host.finder.walk(), b.host.finder.walk()])
    return a.knows(b.host, 'kad') && b.knows(a.host, 'kad')
  }
  await until('they know each other', look, { ms: 60_000 })
})

test('port mapping starts and stops without a router', async () => {
  const { host } = await finding({ genesis, dht: true, upnp: true, autonat: true })
  const other = await finding({ genesis, dht: true, autonat: true })
  await connect(host, other.host)
  await host.stop()
  expect(host.peers()).toEqual([])
})
