import { createServer, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, createServer as createListener } from 'node:net'
import type { HttpLimits } from '../server/limits.ts'
import type { Connections } from './connections.ts'

/** Interval at which Node looks for late requests, so that a late one is cut off at most this much later. */
const ARRIVALS_LOOK_MS = 1_000

/** The HTTP server of the API, with explicit values for the timeouts that Node would choose by itself. */
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
 * Makes a server accept connections at one more address until it closes. Returns the port, or null if the node cannot
 * listen there. All bounds of {@link Connections} count the connections of both addresses together.
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
