import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An HTTP proxy in front of a node. It does not answer the paths that `holds` selects. */
export class HoldingProxy {
  readonly url: string
  /** Paths of requests that it did not pass on. */
  readonly held: string[] = []
  /** Whether requests for a path are not passed on. */
  holds: (path: string) => boolean = () => false
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  static async open(target: string): Promise<HoldingProxy> {
    const server = createServer((message, response) => void proxy.#pass(target, message, response))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const proxy = new HoldingProxy(server)
    return proxy
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  async #pass(target: string, message: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = message.url ?? '/'
    if (this.holds(path)) return void this.held.push(path)
    const chunks: Buffer[] = []
    for await (const chunk of message) chunks.push(chunk as Buffer)
    const type = message.headers['content-type']
    const { method = 'GET' } = message
    const body = method === 'GET' ? {} : { body: Buffer.concat(chunks) }
    const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type }
    try {
      const answer = await fetch(`${target}${path}`, { method, headers, ...body })
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'application/json' })
      response.end(Buffer.from(await answer.arrayBuffer()))
    } catch {
      response.destroy()
    }
  }
}
