import { createServer, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, createServer as createListener } from 'node:net'
import type { HttpLimits } from '../server/limits.ts'
import type { Connections } from './connections.ts'

/** How often it is looked for requests that do not arrive: they are given this much more than they should be at most. */
const ARRIVALS_LOOK_MS = 1_000

/** The server of the API. What its runtime sets by itself, and when, is said here. */
export function createHttpServer(limits: HttpLimits, connections: Connections, answer: RequestListener): Server {
  const { receiveTimeoutMs, idleMsMax, connectionsMax } = limits
  const times = {
    requestTimeout: receiveTimeoutMs,
    headersTimeout: receiveTimeoutMs,
    keepAliveTimeout: idleMsMax,
    connectionsCheckingInterval: Math.min(ARRIVALS_LOOK_MS, receiveTimeoutMs),
  }
  const server = createServer(times, (request, response) => {
    if (connections.admits(request, response)) answer(request, response)
  })
  server.maxConnections = connectionsMax
  server.on('connection', (socket) => connections.opened(socket))
  server.on('checkExpectation', (request, response) => {
    if (connections.admits(request, response)) response.writeHead(417).end()
  })
  return server
}

/**
 * Takes connections at one more place into a server, for as long as that listens; the port, or null where the place cannot be listened
 * on. All bounds hold for both together.
 */
export function listenBeside(
  server: Server,
  place: { readonly host: string; readonly port: number },
): Promise<number | null> {
  const beside = createListener({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit('connection', socket))
  server.once('close', () => beside.close())
  return new Promise((resolve) => {
    beside.once('error', () => resolve(null))
    beside.listen(place, () => resolve((beside.address() as AddressInfo).port))
  })
}
