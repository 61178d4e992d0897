import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect as connectSocket, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { HANDSHAKES, PENDING, SOCKETS_PER_SECOND } from '../../../src/p2p/host/entrance.ts'
import type { Host, HostOptions } from '../../../src/p2p/host/host.ts'
import { startHost } from '../../support/hosts.ts'
import { until } from '../../support/processes.ts'

/** A negotiation and the first message of noise, which may be any bytes. */
const HALF_HANDSHAKE = Buffer.concat([Buffer.from('\x13/multistream/1.0.0\n\x07/noise\n\0 '), randomBytes(32)])
/** Only the answer to that message is so long; the negotiation's lines are shorter. */
const ANSWER_BYTES = 100

const hosts: Host[] = []
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await Promise.all(hosts.splice(0).map((host) => host.stop()))
})

/** A host with the limits of a public network. */
async function publicHost(options: Partial<HostOptions> = {}): Promise<Host> {
  const host = await startHost({ allowPrivate: false, ...options })
  hosts.push(host)
  return host
}

async function open(host: Host, localAddress: string): Promise<Socket> {
  const port = Number(host.addresses()[0]?.split('/')[4])
  const socket = connectSocket({ host: '127.0.0.1', port, localAddress })
  sockets.push(socket)
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

/** Whether half a handshake from an address is answered. */
async function isAnswered(host: Host, localAddress: string): Promise<boolean> {
  const socket = await open(host, localAddress)
  let bytes = 0
  const answered = new Promise<boolean>((resolve) => {
    socket.on('close', () => resolve(false))
    socket.on('data', (data) => {
      bytes += data.length
      if (bytes > ANSWER_BYTES) resolve(true)
    })
  })
  socket.write(HALF_HANDSHAKE)
  const result = await answered
  socket.destroy()
  return result
}

async function countAnswered(host: Host, addresses: readonly string[]): Promise<number> {
  let count = 0
  for (const address of addresses) if (await isAnswered(host, address)) count += 1
  return count
}

const each = (count: number, address: (i: number) => string): string[] =>
  Array.from({ length: count }, (_, i) => address(i + 1))

describe('silent sockets', () => {
  it('keep no peer out, however many a /24 opens', async () => {
    const victim = await publicHost()
    for (let round = 0; round < 4; round++) {
      const idle = each(30, (i) => `127.0.1.${i}`).flatMap((from) =>
        Array.from({ length: SOCKETS_PER_SECOND.public }, () => from),
      )
      await Promise.all(idle.map((from) => open(victim, from)))
      const peer = await publicHost()
      expect(await peer.dial(victim.addresses()[0] as string)).toEqual({ ok: true, value: victim.self })
      await setTimeout(500)
    }
  })

  it('are limited for an address and a /24; the newest are kept', async () => {
    const victim = await publicHost()
    const areAtMost = (count: number): Promise<unknown> =>
      until('the others are closed', () => sockets.filter(({ closed }) => !closed).length <= count, { everyMs: 10 })
    for (let i = 0; i < 4; i++) await open(victim, '127.0.1.1')
    await areAtMost(PENDING.perHost)
    expect(sockets.map(({ closed }) => closed)).toEqual([true, true, expect.any(Boolean), false])
    for (let i = 2; i < 30; i++) await open(victim, `127.0.1.${i}`)
    await areAtMost(PENDING.perNet)
    expect(sockets.at(-1)?.closed).toBe(false)
    await Promise.all(each(150, (i) => `127.0.${1 + i}.1`).map((from) => open(victim, from)))
    await open(victim, '127.0.200.1')
    await areAtMost(PENDING.all)
    expect(sockets.at(-1)?.closed).toBe(false)
    await areAtMost(0)
  })
})

describe('handshakes', () => {
  const perSecond = (share: number): number => (1_000 * share) / HANDSHAKES.ms

  it('get a share of the main thread in all and for each /24, with a reserve for known peers', async () => {
    let nowMs = 1_000
    const victim = await publicHost({ clock: { now: () => nowMs } })
    const isKnown = (address: string): boolean => address.startsWith('/ip4/127.0.200.')
    victim.setGate({ mayAccept: () => true, mayKeep: () => true, mayDial: () => true, isKnown })
    const ofNet = perSecond(HANDSHAKES.netShare)
    const ofAll = perSecond(HANDSHAKES.allShare)
    expect(
      await countAnswered(
        victim,
        each(ofNet + 1, (i) => `127.0.1.${i}`),
      ),
    ).toBe(ofNet)
    expect(
      await countAnswered(
        victim,
        each(ofAll - ofNet, (i) => `127.0.${1 + i}.1`),
      ),
    ).toBe(ofAll - ofNet)
    expect(await isAnswered(victim, '127.0.100.1')).toBe(false)
    const ofKnown = perSecond(HANDSHAKES.knownShare)
    expect(
      await countAnswered(
        victim,
        each(ofKnown, (i) => `127.0.200.${i}`),
      ),
    ).toBe(ofKnown)
    expect(await isAnswered(victim, '127.0.200.100')).toBe(false)
    nowMs += 1_000
    expect(await countAnswered(victim, ['127.0.1.50', '127.0.100.1', '127.0.200.100'])).toBe(3)
  })

  it('do not hold back our own dials', async () => {
    const busy = await publicHost({ clock: { now: () => 1_000 } })
    const ofAll = perSecond(HANDSHAKES.allShare)
    expect(
      await countAnswered(
        busy,
        each(ofAll, (i) => `127.0.${i}.1`),
      ),
    ).toBe(ofAll)
    expect(await isAnswered(busy, '127.0.100.1')).toBe(false)
    const other = await publicHost()
    expect(await busy.dial(other.addresses()[0] as string)).toEqual({ ok: true, value: other.self })
  })
})
