import type { Clock } from '../../../consensus/chain/ports.ts'
import { type Fault, fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import type { EnsFacts, EnsQuery } from '../../../marketplace/ports/evm.ts'
import type { Provider } from '../providers/provider.ts'
import type { Ens } from './ens-viem.ts'
import { newestBlock } from './evm-facts.ts'
import type { JsonRpcNode } from './json-rpc-node.ts'

const AVATAR_CHARS_MAX = 2_000
const NAME_CHARS_MAX = 255

/** Carries a fault through viem. */
class Unanswered extends Error {
  readonly fault: Fault

  constructor(fault: Fault) {
    super(fault.code)
    this.fault = fault
  }
}

/** A JSON-RPC error in the form that viem expects. */
class RpcError extends Error {
  readonly code: number
  readonly data: unknown

  constructor(code: number, data: unknown) {
    super(`error ${code}`)
    this.code = code
    this.data = data
  }
}

/**
 * An Ethereum node as a provider of names, by the universal resolver of ENS
 * (https://docs.ens.domains/resolvers/universal). Off-chain names (EIP-3668) are not followed: their contracts choose
 * addresses that this node would fetch.
 */
export function ensLookup(node: JsonRpcNode, ens: () => Promise<Ens>, clock: Clock): Provider<EnsQuery, EnsFacts> {
  return {
    name: node.name,
    check: async (signal) => {
      await ens()
      const proven = await node.proveChain(signal, true)
      return proven.ok ? newestBlock(node, clock, signal) : proven
    },
    ask: async (query, signal) => {
      const proven = await node.proveChain(signal)
      if (!proven.ok) return proven
      const lookup = new Lookup(node, await ens(), signal)
      return 'name' in query ? lookup.forward(query.name) : lookup.reverse(query.address)
    },
  }
}

class Lookup {
  readonly #node: JsonRpcNode
  readonly #ens: Ens
  readonly #client: ReturnType<Ens['client']>

  constructor(node: JsonRpcNode, ens: Ens, signal: AbortSignal) {
    this.#node = node
    this.#ens = ens
    this.#client = ens.client(async (method, params) => {
      const answer = await node.ask(method, params, signal)
      if (!answer.ok) throw new Unanswered(answer.fault)
      if (answer.value.is === 'result') return answer.value.result
      throw new RpcError(answer.value.code, answer.value.data)
    })
  }

  async forward(name: string): Promise<Result<EnsFacts>> {
    return this.#guarded(async () => {
      const [address, resolver, avatar] = await Promise.all([
        this.#client.address(name),
        this.#client.resolver(name),
        this.#client.avatar(name),
      ])
      return { name, address, resolver, avatar: shortened(avatar), forwardVerified: address !== null }
    })
  }

  async reverse(address: string): Promise<Result<EnsFacts>> {
    return this.#guarded(async () => {
      const nothing = { name: null, address, resolver: null, avatar: null, forwardVerified: false }
      const told = await this.#client.name(address)
      // A name that is not in the normal form of ENSIP-15 can imitate another name, so it counts as no name.
      if (told === null || told.length > NAME_CHARS_MAX || this.#ens.normalise(told) !== told) return nothing
      const found = await this.forward(told)
      if (!found.ok) throw new Unanswered(found.fault)
      const isVerified = found.value.address?.toLowerCase() === address.toLowerCase()
      return isVerified ? { ...found.value, address } : nothing
    })
  }

  async #guarded(look: () => Promise<EnsFacts>): Promise<Result<EnsFacts>> {
    try {
      return ok(await look())
    } catch (error) {
      return fail(this.#faultOf(error))
    }
  }

  #faultOf(error: unknown): Fault {
    for (let cause = error, i = 0; cause instanceof Error && i < 10; cause = cause.cause, i++) {
      if (cause instanceof Unanswered) return cause.fault
    }
    const reverted = this.#ens.revertOf(error)
    if (reverted !== null && OFF_CHAIN.has(reverted)) {
      return fault('provider/not-found', { provider: this.#node.name, what: 'names that are answered off chain' })
    }
    // Resolvers are contracts of strangers: their answers can be anything.
    const { code, detail } = this.#node.unusable('the answer of the resolver is not valid')
    return fault(code, { ...detail, ofQuestion: true })
  }
}

/** Errors, by name or selector, of names that need an off-chain gateway (EIP-3668). */
const OFF_CHAIN: ReadonlySet<string> = new Set(['OffchainLookup', '0x556f1830', 'HttpError'])

/** An avatar record; null if it is too long or malformed. A picture inside a record could have any size. */
function shortened(avatar: string | null): string | null {
  return avatar !== null && avatar.length <= AVATAR_CHARS_MAX && avatar.isWellFormed() ? avatar : null
}
