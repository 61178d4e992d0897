import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, Socket } from 'node:net'

/** `whole`: bytes arrive. `cut`: connections end and new ones fail. `black-hole`: connections stay, but bytes do not arrive. */
type Line = 'whole' | 'cut' | 'black-hole'

/** A line between two nodes of this machine that a test can cut and mend. Unlike network namespaces, it needs no special rights. */
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

  /** Listens on a free port of 127.0.0.1, and connects to port `target` there. */
  static async open(target: number): Promise<TcpProxy> {
    const server = createServer({ allowHalfOpen: false }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new TcpProxy(server, target)
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** How many connections were tried over it. */
  get dials(): number {
    return this.#dials
  }

  /** Ends every connection; new ones end at once. */
  cut(): void {
    this.#line = 'cut'
    this.#endAll()
  }

  /** Keeps connections and accepts new ones, but passes no bytes on. */
  blackHole(): void {
    this.#line = 'black-hole'
    for (const socket of this.#sockets) socket.pause()
  }

  /** Passes everything on again, also the bytes that waited. */
  heal(): void {
    this.#line = 'whole'
    for (const socket of this.#sockets) socket.resume()
  }

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
 * Ports below those of outgoing connections (Linux: from 32,768 up; other systems higher). Otherwise, before the test listens
 * on a free port, a socket of another test could get it. Each process begins at another port.
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
