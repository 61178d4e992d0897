import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { createServer, type Server } from 'node:net'

/** Records of a name, or how the server misbehaves when asked for it. */
export interface DnsName {
  readonly a?: readonly string[]
  readonly aaaa?: readonly string[]
  /** Priority and exchanger; the empty text is the root (RFC 7505). */
  readonly mx?: readonly (readonly [number, string])[]
  /**
   * `nxdomain`, `servfail` and `refused` are return codes (RFC 1035, 4.1.1). `silence` is no answer. `garbage` is bytes that are not a
   * message. `truncated` sets TC over UDP, so that the client asks again over TCP. `cut` ends in the middle of a record.
   */
  readonly does?: 'nxdomain' | 'servfail' | 'refused' | 'silence' | 'garbage' | 'truncated' | 'cut'
}

const TYPES = { a: 1, ns: 2, mx: 15, aaaa: 28 } as const
const CODES = { servfail: 2, nxdomain: 3, refused: 5 } as const
const FLAGS = { answer: 0x8180, truncated: 0x0200 }
const ROOT_SERVER = 'a.root-servers.net'
/** Ports that are tried. */
const PORT_TRIES = 20

/**
 * A name server on 127.0.0.1, over UDP and over TCP on the same port. Messages follow RFC 1035, section 4. The name of a record is
 * compressed: it points to the question. Unknown names do not exist; the root has a name server.
 */
export class DnsServer {
  readonly #names: Readonly<Record<string, DnsName>>
  readonly #udp: Socket
  readonly #tcp: Server
  /** Types and names that were asked for over UDP, in order: `mx example.com`. */
  readonly questions: string[] = []

  private constructor(names: Readonly<Record<string, DnsName>>) {
    this.#names = names
    this.#udp = createSocket('udp4')
    this.#udp.on('message', (message, from) => this.#overUdp(message, from))
    this.#tcp = createServer((socket) => {
      socket.on('error', () => {})
      socket.on('data', (data: Buffer) => {
        const said = this.#answer(data.subarray(2), false)
        if (said === null) return
        const length = Buffer.alloc(2)
        length.writeUInt16BE(said.length)
        socket.end(Buffer.concat([length, said]))
      })
    })
  }

  static async open(names: Readonly<Record<string, DnsName>>): Promise<DnsServer> {
    // A port that is free for UDP may be taken for TCP, by another test.
    for (let tries = 0; ; tries++) {
      const server = new DnsServer(names)
      await new Promise<void>((resolve) => server.#udp.bind(0, '127.0.0.1', resolve))
      const { port } = server.#udp.address()
      const refused = await new Promise<Error | null>((resolve) => {
        server.#tcp.once('error', resolve).listen(port, '127.0.0.1', () => resolve(null))
      })
      if (refused === null) return server
      server.#udp.close()
      if (tries === PORT_TRIES) throw refused
    }
  }

  /** Address with port, as settings take it. */
  get address(): string {
    return `127.0.0.1:${this.#udp.address().port}`
  }

  async close(): Promise<void> {
    await Promise.all([
      new Promise<void>((resolve) => this.#udp.close(resolve)),
      new Promise<void>((resolve) => this.#tcp.close(() => resolve())),
    ])
  }

  #overUdp(message: Buffer, { port, address }: RemoteInfo): void {
    const said = this.#answer(message, true)
    if (said !== null) this.#udp.send(said, port, address)
  }

  #answer(message: Buffer, isUdp: boolean): Buffer | null {
    const { name, type, end } = questionIn(message)
    const typeName = Object.entries(TYPES).find(([, number]) => number === type)?.[0] ?? String(type)
    if (isUdp) this.questions.push(`${typeName} ${name}`)
    const { does, ...records }: DnsName = this.#names[name] ?? (name === '' ? {} : { does: 'nxdomain' })
    if (does === 'silence') return null
    if (does === 'garbage') return Buffer.from('these are no records')
    const isCut = does === 'truncated' && isUdp
    const data = does !== undefined && does in CODES ? [] : dataOf(name, type, records)
    const header = Buffer.alloc(12)
    message.copy(header, 0, 0, 2)
    const code = CODES[does as keyof typeof CODES] ?? 0
    header.writeUInt16BE(FLAGS.answer | code | (isCut ? FLAGS.truncated : 0), 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(isCut ? 0 : data.length, 6)
    const answers = isCut ? [] : data.map((one) => record(type, one))
    const whole = Buffer.concat([header, message.subarray(12, end), ...answers])
    return does === 'cut' ? whole.subarray(0, whole.length - 3) : whole
  }
}

function questionIn(message: Buffer): { readonly name: string; readonly type: number; readonly end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length).toLowerCase())
    at += 1 + length
  }
  return { name: labels.join('.'), type: message.readUInt16BE(at + 1), end: at + 5 }
}

function dataOf(name: string, type: number, { a = [], aaaa = [], mx = [] }: DnsName): Buffer[] {
  if (type === TYPES.ns && name === '') return [nameBytes(ROOT_SERVER)]
  if (type === TYPES.a) return a.map((address) => Buffer.from(address.split('.').map(Number)))
  if (type === TYPES.aaaa) return aaaa.map((address) => Buffer.from(address.replaceAll(':', ''), 'hex'))
  if (type !== TYPES.mx) return []
  return mx.map(([priority, exchanger]) => {
    const bytes = Buffer.alloc(2)
    bytes.writeUInt16BE(priority)
    return Buffer.concat([bytes, nameBytes(exchanger)])
  })
}

/** A record of the question's name (a pointer to byte 12), class IN, kept for a minute. */
function record(type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(12)
  head.writeUInt16BE(0xc00c, 0)
  head.writeUInt16BE(type, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt32BE(60, 6)
  head.writeUInt16BE(data.length, 10)
  return Buffer.concat([head, data])
}

function nameBytes(name: string): Buffer {
  const labels = name.split('.').filter((label) => label !== '')
  return Buffer.concat([...labels.map((label) => Buffer.from([label.length, ...Buffer.from(label)])), Buffer.from([0])])
}
