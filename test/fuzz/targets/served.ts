import { decode, encode } from '../../../consensus/primitives/codec.ts'
import { REFUSALS } from '../../../src/p2p/peers/exchange.ts'
import { replyCodec, requestCodec } from '../../../src/p2p/wire/messages.ts'
import { PROTOCOL_NAMES, PROTOCOLS, type ProtocolName } from '../../../src/p2p/wire/protocols.ts'
import { structured } from '../structure.ts'
import type { Target } from '../target.ts'
import { World } from '../world.ts'
import { trueMessages } from './bytes.ts'

/** The word of the node's answer, which must decode as a reply of the protocol or be a refusal, and keep the size limit. */
function wordOfReply(protocol: ProtocolName, bytes: Uint8Array): string {
  if (bytes.length > PROTOCOLS[protocol].replyMax) throw new Error(`${bytes.length} bytes are more than may be`)
  if (bytes[0] === 1) {
    const reason = Buffer.from(bytes.subarray(1)).toString()
    if (!REFUSALS.includes(reason as never)) throw new Error(`refused for ${reason}`)
    return reason
  }
  const reply = decode(replyCodec(protocol), bytes.subarray(1))
  if (!reply.ok) throw new Error(`our own reply does not decode: ${String(reply.fault.detail.reason)}`)
  return 'answered'
}

function servedTarget(protocol: ProtocolName): Target {
  let world: World | undefined
  const codec = requestCodec(protocol)
  return {
    name: `served-${protocol}`,
    share: 0.25,
    seeds: async () => [encode(codec, (await trueMessages())[protocol][0])],
    generate: (random) => structured(codec, random),
    run: async (bytes) => {
      world ??= await World.open()
      const peer = await world.regular()
      const reply = await world.settled(peer.request(world.network.self, protocol, bytes))
      if (world.fatal.length > 0) throw world.fatal[0]
      if (!reply.ok) throw new Error(`not answered: ${reply.fault.code}`)
      return wordOfReply(protocol, reply.value)
    },
    close: async () => world?.close(),
  }
}

/** The node's answers to requests. */
export const SERVED_TARGETS: readonly Target[] = PROTOCOL_NAMES.map(servedTarget)
