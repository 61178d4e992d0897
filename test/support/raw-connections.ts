import { connect, type Socket } from 'node:net'
import { until } from './processes.ts'

/** Head of a request, as text. */
export function head(line: string, headers: Readonly<Record<string, string | number>> = {}): string {
  const all = Object.entries({ host: '127.0.0.1', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${line} HTTP/1.1\r\n${all.join('')}\r\n`
}

interface Choices {
  readonly isDeaf?: boolean
  readonly from?: string
}

/** Plain connections to a server, as a hostile client holds them. */
export class RawConnections {
  readonly #port: number
  readonly #address: string
  readonly #all: RawConnection[] = []

  constructor(url: string, address = '127.0.0.1') {
    this.#port = Number(new URL(url).port)
    this.#address = address
  }

  /** Opens a connection and sends bytes. `from` is a local address; a deaf connection reads nothing. */
  open(bytes: string, { isDeaf = false, from }: Choices = {}): RawConnection {
    const socket = connect({ port: this.#port, host: this.#address, ...(from !== undefined && { localAddress: from }) })
    const connection = new RawConnection(socket, bytes, isDeaf)
    this.#all.push(connection)
    return connection
  }

  /** Opens `count` connections, and waits until all of them have sent their bytes or are closed. */
  async openMany(count: number, bytes: string, choices: Choices = {}): Promise<RawConnection[]> {
    const made = Array.from({ length: count }, () => this.open(bytes, choices))
    await until('all have sent or are closed', () => made.every(({ hasSent, isClosed }) => hasSent || isClosed))
    return made
  }

  closeAll(): void {
    for (const connection of this.#all) connection.socket.destroy()
  }
}

/** One of {@link RawConnections}. */
export class RawConnection {
  readonly socket: Socket
  hasSent = false
  isClosed = false
  /** Everything read so far. */
  text = ''

  constructor(socket: Socket, bytes: string, isDeaf: boolean) {
    this.socket = socket
    socket.on('error', () => {})
    socket.on('close', () => {
      this.isClosed = true
    })
    if (isDeaf) socket.pause()
    else
      socket.on('data', (chunk: Buffer) => {
        this.text += chunk.toString('latin1')
      })
    socket.once('connect', () => {
      socket.write(bytes, () => {
        this.hasSent = true
      })
    })
  }

  /** Status codes of the answers so far. */
  get statuses(): readonly number[] {
    return [...this.text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
  }
}
