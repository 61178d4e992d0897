import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, Socket } from 'node:net'

/** What happens to what two nodes send each other: it arrives; the line is cut and stays so; it is lost and nobody is told. */
type Line = 'whole' | 'cut' | 'black-hole'

/**
 * One line between two nodes of this machine, to be cut and mended. Real processes with real sockets are parted by it as by a
 * network: dials fail, connections end, or bytes vanish. So no test needs the rights that network namespaces take.
 */
export class TcpProxy {
  readonly #server: Server
  readonly #target: number
  readonly #sockets = new Set<Socket>()
  #line: Line = 'whole'
  #dials = 0

  private constructor(server: Server, target: number) {
    this.#server = server
    this.#target = target
    server.on('connection', (near) => this.#join(near))
  }

  /** Listens on a free port of 127.0.0.1 for whoever wants to a port of the same. */
  static async open(target: number): Promise<TcpProxy> {
    const server = createServer({ allowHalfOpen: false }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new TcpProxy(server, target)
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Connections that somebody tried over it so far. */
  get dials(): number {
    return this.#dials
  }

  /** Ends every connection; new ones end at once. */
  cut(): void {
    this.#line = 'cut'
    this.#endAll()
  }

  /** Connections stay, new ones are taken, and nothing arrives any more. */
  blackHole(): void {
    this.#line = 'black-hole'
    for (const socket of this.#sockets) socket.pause()
  }

  /** Everything arrives from now on, also what waited in the line. */
  heal(): void {
    this.#line = 'whole'
    for (const socket of this.#sockets) socket.resume()
  }

  /** Ends it. */
  async close(): Promise<void> {
    this.cut()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #join(near: Socket): void {
    this.#dials += 1
    if (this.#line === 'cut') return void near.destroy()
    const far = new Socket()
    this.#keep(near, far)
    this.#keep(far, near)
    far.connect(this.#target, '127.0.0.1')
    near.pipe(far).pipe(near)
    if (this.#line === 'black-hole') for (const socket of [near, far]) socket.pause()
  }

  #keep(socket: Socket, other: Socket): void {
    this.#sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('error', () => {})
    socket.on('close', () => {
      this.#sockets.delete(socket)
      other.destroy()
    })
  }

  #endAll(): void {
    for (const socket of this.#sockets) socket.destroy()
  }
}

/**
 * Ports that systems do not give to outgoing connections (Linux: from 32,768 up; others higher): between being found free and being
 * listened on, a port of those would go to any of the sockets of the tests beside. Each process begins at a place of its own.
 */
const PORTS = { first: 10_000, count: 20_000, perProcess: 40 } as const
let ports = process.pid * PORTS.perProcess

/** A port of 127.0.0.1 that is free just now. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = PORTS.first + (ports++ % PORTS.count)
    const server = createServer().listen(port, '127.0.0.1')
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    if (!isFree) continue
    server.close()
    await once(server, 'close')
    return port
  }
}
