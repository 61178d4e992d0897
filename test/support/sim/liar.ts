import { HEADER_BYTES } from '../../../consensus/block/header.ts'
import { concat } from '../../../consensus/primitives/bytes.ts'
import { decode, encode } from '../../../consensus/primitives/codec.ts'
import type { GossipJudge, RequestHandler, TopicName } from '../../../src/p2p/network.ts'
import { COMPACT_BLOCK, type ReplyOf, replyCodec } from '../../../src/p2p/wire/messages.ts'
import { PROTOCOL_NAMES, type ProtocolName } from '../../../src/p2p/wire/protocols.ts'
import type { Dice } from './dice.ts'
import type { Endpoint } from './endpoint.ts'
import { PassThrough } from './pass-through.ts'
import type { VirtualTime } from './virtual-clock.ts'

export const LIES = ['status', 'headers', 'bodies', 'withholding', 'junk', 'work'] as const
export type Lie = (typeof LIES)[number]

/** Mean time between two lies that no peer asked for, ms. */
const BETWEEN_LIES_MS = 4_000
/** Share of false answers. A liar that always lies is caught before it does harm. */
const FALSE_SHARE = 0.4

/** Changes an otherwise honest node's messages. The node follows the chain, so that its lies look plausible. */
export class Liar extends PassThrough {
  readonly #lie: Lie
  readonly #dice: Dice
  readonly #time: VirtualTime
  #lastBlock: Uint8Array | undefined

  constructor(inner: Endpoint, lie: Lie, dice: Dice, time: VirtualTime) {
    super(inner)
    this.#lie = lie
    this.#dice = dice
    this.#time = time
    this.#goOn()
  }

  override subscribe(topic: TopicName, judge: GossipJudge): void {
    this.inner.subscribe(topic, (from, body) => {
      if (topic === 'blocks') this.#lastBlock = body
      return judge(from, body)
    })
  }

  override serve(protocol: ProtocolName, handler: RequestHandler): void {
    this.inner.serve(protocol, async (from, body) => {
      const reply = await handler(from, body)
      return this.#dice.chance(FALSE_SHARE) ? this.#falsified(protocol, reply) : reply
    })
  }

  async #falsified(protocol: ProtocolName, reply: Uint8Array): Promise<Uint8Array> {
    if (this.#lie === 'junk') return this.#dice.bytes(1 + this.#dice.below(200))
    if (this.#lie === 'withholding' && protocol !== 'status') return this.#withheld(reply)
    if (reply[0] !== 0) return reply
    if (this.#lie === 'status' && protocol === 'status') return this.#boast(reply)
    if (this.#lie === 'headers' && protocol === 'headers') return this.#bentHeaders(reply)
    if (this.#lie === 'bodies' && protocol === 'bodies') return this.#bentBodies(reply)
    if (this.#lie === 'bodies' && protocol !== 'status' && protocol !== 'headers') return this.#bent(reply)
    return reply
  }

  /** No answer, a refusal, or the true reply. */
  #withheld(reply: Uint8Array): Promise<Uint8Array> {
    if (this.#dice.chance(0.3)) return new Promise(() => {})
    return Promise.resolve(this.#dice.chance(0.5) ? Uint8Array.of(1, ...Buffer.from('not-held')) : reply)
  }

  /** A status with more work than any node has. */
  #boast(reply: Uint8Array): Uint8Array {
    const status = this.#read('status', reply)
    const head = Buffer.from(this.#dice.bytes(32)).toString('hex') as typeof status.head
    const height = status.height + 1 + this.#dice.below(1_000)
    return this.#written('status', { ...status, head, height, totalWork: status.totalWork * 2n + 1_000_000n })
  }

  #bentHeaders(reply: Uint8Array): Uint8Array {
    const headers = this.#read('headers', reply)
    if (headers.length === 0) return reply
    const at = this.#dice.below(headers.length)
    const bent = [...headers]
    // Changes the nonce in half of the cases, else any byte.
    const place = this.#dice.chance(0.5) ? HEADER_BYTES - 1 - this.#dice.below(8) : this.#dice.below(HEADER_BYTES)
    bent[at] = (bent[at] as Uint8Array).map((byte, i) => (i === place ? byte ^ 0x55 : byte))
    return this.#written('headers', bent)
  }

  /** Leaves out the first transaction of one body. In half of the cases it also reverses the order of the bodies. */
  #bentBodies(reply: Uint8Array): Uint8Array {
    const bodies = this.#read('bodies', reply)
    const at = this.#dice.below(bodies.length)
    const bent = bodies.map((body, i) => (i === at ? body.slice(1) : body))
    return this.#written('bodies', this.#dice.chance(0.5) ? bent : bent.toReversed())
  }

  #bent(reply: Uint8Array): Uint8Array {
    const place = 1 + this.#dice.below(Math.max(1, reply.length - 1))
    return reply.map((byte, i) => (i === place ? byte ^ 0x55 : byte))
  }

  #read<P extends ProtocolName>(protocol: P, reply: Uint8Array): ReplyOf<P> {
    const decoded = decode(replyCodec(protocol), reply.subarray(1))
    if (!decoded.ok) throw new Error(decoded.fault.code)
    return decoded.value
  }

  #written<P extends ProtocolName>(protocol: P, value: ReplyOf<P>): Uint8Array {
    return concat(Uint8Array.of(0), encode(replyCodec(protocol), value))
  }

  #goOn(): void {
    this.#time.after(this.#dice.exponential(BETWEEN_LIES_MS), () => {
      if (this.inner.closed) return
      if (this.#lie === 'junk') this.#talkJunk()
      if (this.#lie === 'work') this.#publishFalseWork()
      this.#goOn()
    })
  }

  #talkJunk(): void {
    if (this.#dice.chance(0.3)) {
      this.publish(this.#dice.pick(['blocks', 'transactions']), this.#dice.bytes(1 + this.#dice.below(400)))
      return
    }
    const all = this.peers()
    if (all.length === 0) return
    const body = this.#dice.bytes(this.#dice.below(200))
    // The liar ignores the answer.
    void this.request(this.#dice.pick(all).id, this.#dice.pick(PROTOCOL_NAMES), body)
  }

  /** Publishes the last block with a random nonce. */
  #publishFalseWork(): void {
    if (this.#lastBlock === undefined) return
    const message = decode(COMPACT_BLOCK, this.#lastBlock)
    if (!message.ok) return
    const header = Uint8Array.from(message.value.header)
    header.set(this.#dice.bytes(8), HEADER_BYTES - 8)
    this.publish('blocks', encode(COMPACT_BLOCK, { ...message.value, header }))
  }
}
