import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fault } from '../../../consensus/primitives/fault.ts'
import type { EventSink } from '../../../rpc/server/answer.ts'
import { Streams } from '../../../rpc/server/streams.ts'
import { until } from '../../support/processes.ts'

const LIMITS = {
  openMax: 4,
  openPerAddressMax: 4,
  operatorMax: 1,
  bufferBytesMax: 200_000,
  behindMsMax: 500,
  heartbeatMs: 60_000,
}
/** Events that exceed the buffers of two sockets. */
const EVENTS = 2_000
const BIG = { event: 'big', id: '1', data: { text: 'x'.repeat(50_000) } }

let server: Server
let streams: Streams
let sinks: EventSink[]
let stopped: number
const sockets: Socket[] = []

beforeEach(async () => {
  streams = new Streams(LIMITS)
  sinks = []
  stopped = 0
  server = createServer((_, raw) => {
    const refused = streams.open(
      { raw, holder: { network: 'n', address: 'a' }, headers: {}, onError: (error) => expect.fail(String(error)) },
      (sink) => {
        sinks.push(sink)
        return { stop: () => stopped++ }
      },
    )
    if (refused !== null) raw.writeHead(429).end(refused.code)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  streams.close()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

/** Asks for a stream, and does not read. */
function asked(): Socket {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1', () =>
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n'),
  )
  socket.on('error', () => {})
  sockets.push(socket)
  return socket.pause()
}

describe('a stream', () => {
  it('whose client does not read is cut off when it is too far behind, and uses no more memory than that', async () => {
    asked()
    const sink = await until('the stream is open', () => sinks[0])
    let sent = 0
    while (stopped === 0 && sent < EVENTS) {
      sink.send(BIG)
      sent += 1
      await new Promise(setImmediate)
    }
    expect([stopped, streams.count]).toEqual([1, 0])
    expect(sent).toBeLessThan(EVENTS)
    sink.send(BIG)
    sink.end()
    expect(stopped).toBe(1)
  })

  it('whose client reads gets everything, however much it is', async () => {
    const socket = asked()
    let bytes = 0
    socket.on('data', (chunk) => {
      bytes += chunk.length
    })
    socket.resume()
    const sink = await until('the stream is open', () => sinks[0])
    for (let i = 1; i <= 200; i++) {
      sink.send(BIG)
      await until('it was read', () => bytes >= i * 50_000, { everyMs: 1 })
    }
    expect([stopped, streams.count]).toEqual([0, 1])
  })

  it('waits for its client: it goes on when the client reads, and is cut off otherwise', async () => {
    const socket = asked()
    const sink = await until('the stream is open', () => sinks[0])
    const fill = async (): Promise<void> => {
      for (let i = 0; sink.hasRoom && i < EVENTS; i++) {
        sink.send(BIG)
        await new Promise(setImmediate)
      }
      expect(sink.hasRoom).toBe(false)
    }
    await fill()
    const room = sink.room()
    socket.resume()
    expect([await room, stopped]).toEqual([true, 0])
    socket.pause()
    await fill()
    expect(await sink.room()).toBe(false)
    await until('it is over', () => stopped === 1)
    expect(await sink.room()).toBe(false)
  })

  it('ends once, when its client leaves or the node ends it', async () => {
    const [leaves, stays] = [asked(), asked().resume()]
    await until('both are open', () => sinks.length === 2)
    leaves.destroy()
    await until('one is over', () => stopped === 1)
    const ended = new Promise((resolve) => stays.once('close', resolve))
    for (const sink of sinks) sink.end()
    await ended
    await until('both are over', () => stopped === 2)
    expect(streams.count).toBe(0)
  })

  it('is refused without a byte if there are too many, if its start fails, and after the end', async () => {
    for (let i = 0; i < LIMITS.openMax; i++) asked()
    await until('all are open', () => sinks.length === LIMITS.openMax)
    const refused = async (): Promise<string> => {
      const reply = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
      return reply.text()
    }
    expect(await refused()).toBe('rpc/too-many-streams')
    streams.close()
    for (const socket of sockets) socket.resume()
    await until('all are over', () => stopped === LIMITS.openMax)
    expect(await refused()).toBe('rpc/busy')
    streams = new Streams(LIMITS)
    const open = streams.open.bind(streams)
    streams.open = (place) => open(place, () => fault('mining/busy'))
    expect(await refused()).toBe('mining/busy')
    expect(streams.count).toBe(0)
  })
})
