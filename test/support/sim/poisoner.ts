import { decode, encode } from '../../../consensus/primitives/codec.ts'
import type { GossipJudge, RequestHandler, TopicName } from '../../../src/p2p/network.ts'
import { COMPACT_BLOCK, SHORT_ID_BYTES } from '../../../src/p2p/wire/messages.ts'
import type { ProtocolName } from '../../../src/p2p/wire/protocols.ts'
import type { Dice } from './dice.ts'
import type { Endpoint } from './endpoint.ts'
import { PassThrough } from './pass-through.ts'
import type { VirtualTime } from './virtual-clock.ts'

/** A request for block data is refused just before its asker would give up. */
const REFUSED_AFTER_MS: Readonly<Record<string, number>> = { blockTransactions: 1_900, bodies: 3_900 }
const REFUSAL = Uint8Array.of(1, ...Buffer.from('not-held'))
const MESSAGES_EACH = 4
const JUNK_IDS = 200

/**
 * An attacker without hash power. When it hears of a block, it publishes the header with made-up short ids. It passes
 * no true block on and refuses requests for blocks.
 */
export class Poisoner extends PassThrough {
  readonly #dice: Dice
  readonly #time: VirtualTime
  readonly #poisoned = new Set<string>()

  constructor(inner: Endpoint, dice: Dice, time: VirtualTime) {
    super(inner)
    this.#dice = dice
    this.#time = time
  }

  override publish(topic: TopicName, body: Uint8Array): void {
    if (topic !== 'blocks') this.inner.publish(topic, body)
  }

  /** It never disconnects. */
  override disconnect(): void {}

  override subscribe(topic: TopicName, judge: GossipJudge): void {
    this.inner.subscribe(topic, async (from, body) => {
      if (topic !== 'blocks') return judge(from, body)
      this.#poison(body)
      await judge(from, body)
      return 'ignore'
    })
  }

  override serve(protocol: ProtocolName, handler: RequestHandler): void {
    const afterMs = REFUSED_AFTER_MS[protocol]
    const refuse = (): Promise<Uint8Array> =>
      new Promise((resolve) => this.#time.after(afterMs ?? 0, () => resolve(REFUSAL)))
    this.inner.serve(protocol, afterMs === undefined ? handler : refuse)
  }

  #poison(body: Uint8Array): void {
    const message = decode(COMPACT_BLOCK, body)
    if (!message.ok) return
    const name = Buffer.from(message.value.header).toString('base64')
    if (this.#poisoned.has(name)) return
    this.#poisoned.add(name)
    for (let i = 0; i < MESSAGES_EACH; i++) {
      const salt = BigInt(this.#dice.below(2 ** 30))
      const shortIds = this.#dice.bytes(SHORT_ID_BYTES * JUNK_IDS)
      this.inner.publish('blocks', encode(COMPACT_BLOCK, { ...message.value, salt, shortIds, prefilled: [] }))
    }
  }
}
