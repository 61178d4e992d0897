import { BaseError, ContractFunctionRevertedError, createClient, custom, type Hex, isAddress, zeroAddress } from 'viem'
import { getEnsAddress, getEnsName, getEnsResolver, getEnsText, normalize } from 'viem/ens'

/** The universal resolver of ENS. The address is stable, because the contract is upgraded in place. */
export const UNIVERSAL_RESOLVER = '0xeeeeeeee14d718c2b47d9923deab1335e144eeee'

/** Errors of the universal resolver that mean "no record" (https://docs.ens.domains/resolvers/universal). */
const NOTHING: ReadonlySet<string> = new Set([
  'ResolverNotFound',
  'ResolverNotContract',
  'UnsupportedResolverProfile',
  'ReverseAddressMismatch',
])

/** Resolvers that do not support an optional record fail with `ResolverError`. */
const NO_RECORD: ReadonlySet<string> = new Set([...NOTHING, 'ResolverError'])

/** Sends one JSON-RPC query. */
export type AskRpc = (method: string, params: readonly unknown[]) => Promise<unknown>

/**
 * The part of viem that this node uses. Only this file imports viem, and it is loaded on first use: the import takes a
 * fifth of a second and tens of megabytes.
 */
export interface Ens {
  /** The name in the normal form of ENSIP-15; null if it is not a valid name. */
  readonly normalise: (name: string) => string | null
  readonly client: (ask: AskRpc) => EnsClient
  /** Name or selector of the error with which a contract reverted; null for other errors. */
  readonly revertOf: (error: unknown) => string | null
}

/** Null if a record is not set. All methods throw if the node fails or answers something unexpected. */
export interface EnsClient {
  readonly address: (name: string) => Promise<string | null>
  readonly resolver: (name: string) => Promise<string | null>
  readonly avatar: (name: string) => Promise<string | null>
  readonly name: (address: string) => Promise<string | null>
}

/** ENS through viem. */
export const ENS: Ens = {
  normalise: (name) => {
    try {
      return normalize(name)
    } catch {
      return null
    }
  },
  client: (ask) => {
    const request = ({ method, params }: { readonly method: string; readonly params?: unknown }): Promise<unknown> =>
      ask(method, Array.isArray(params) ? params : [])
    const client = createClient({ transport: custom({ request }, { retryCount: 0 }), ccipRead: false })
    const where = { universalResolverAddress: UNIVERSAL_RESOLVER, strict: true } as const
    return {
      address: (name) => orNothing(NOTHING, getEnsAddress(client, { ...where, name })),
      resolver: async (name) => {
        const found = await orNothing(NOTHING, getEnsResolver(client, { ...where, name }))
        return found === null || found === zeroAddress || !isAddress(found) ? null : found
      },
      avatar: async (name) =>
        (await orNothing(NO_RECORD, getEnsText(client, { ...where, name, key: 'avatar' }))) || null,
      name: (address) => orNothing(NO_RECORD, getEnsName(client, { ...where, address: address as Hex })),
    }
  },
  revertOf,
}

async function orNothing<T>(meaning: ReadonlySet<string>, found: Promise<T | null>): Promise<T | null> {
  try {
    return await found
  } catch (error) {
    const reverted = revertOf(error)
    if (reverted !== null && meaning.has(reverted)) return null
    throw error
  }
}

function revertOf(error: unknown): string | null {
  if (!(error instanceof BaseError)) return null
  const cause = error.walk((one) => one instanceof ContractFunctionRevertedError)
  return cause instanceof ContractFunctionRevertedError ? (cause.data?.errorName ?? cause.signature ?? null) : null
}
