import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { writeFeed } from '../../../rpc/server/feeds.ts'
import { until } from '../../support/processes.ts'
import { head } from '../../support/raw-connections.ts'

const LIMITS = { heartbeatMs: 60_000, behindMsMax: 2_000 }
/** More than the socket buffers of both ends hold. */
const BYTES = 24 * 1_024 * 1_024

let server: Server
let socket: Socket
const ends: string[] = []

afterEach(() => {
  socket.destroy()
  server.close()
  ends.splice(0)
})

/** Asks for a file of these pieces, and reads nothing yet. */
async function asked(pieces: readonly number[]): Promise<Socket> {
  const errors: unknown[] = []
  server = createServer((_, raw) => {
    const write = async (out: { write(piece: Uint8Array): Promise<void> | undefined }): Promise<boolean> => {
      for (const bytes of pieces) await out.write(new Uint8Array(bytes))
      return true
    }
    raw.on('close', () => ends.push(raw.writableFinished ? 'whole' : 'cut'))
    const place = { raw, headers: {}, limits: LIMITS, onError: (error: unknown) => void errors.push(error) }
    void writeFeed(place, { headers: {}, isFile: true, write })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {})
  socket.write(head('GET /'))
  return socket
}

/** Reads a little, fifty times a second, until the answer ends. */
async function listened(from: Socket): Promise<void> {
  from.on('readable', () => {})
  const reading = setInterval(() => from.read(), 20)
  await until('it is over', () => ends.length > 0, { ms: 60_000 })
  clearInterval(reading)
}

describe('an answer that is sent while it is made', () => {
  it.each([
    ['before its end', [BYTES, 1]],
    ['at its end', [BYTES]],
  ])(
    'is whole for a reader who is slow and takes something all the time, %s',
    async (_, pieces) => {
      await listened(await asked(pieces))
      expect(ends).toEqual(['whole'])
    },
    90_000,
  )

  it('ends with an error that is told, and no unhandled one, if its headers cannot be sent', async () => {
    const errors: unknown[] = []
    server = createServer((_, raw) => {
      raw.on('close', () => ends.push(raw.writableFinished ? 'whole' : 'cut'))
      const place = { raw, headers: {}, limits: LIMITS, onError: (error: unknown) => void errors.push(error) }
      void writeFeed(place, { headers: { 'x-name': 'two\nlines' }, write: async () => true })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {})
    socket.write(head('GET /'))
    await until('it is over', () => ends.length > 0)
    expect(ends).toEqual(['cut'])
    expect(errors).toMatchObject([{ code: 'ERR_INVALID_CHAR' }])
  })

  it('is cut off for a client that reads nothing', async () => {
    await asked([BYTES, 1])
    await until('it is over', () => ends.length > 0)
    expect(ends).toEqual(['cut'])
  })
})
