import { fromHex } from '../../consensus/primitives/bytes.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import type { AuthorizerKey, ChannelChain } from '../../marketplace/till/rails/dollar/channel/chain.ts'
import { FacilitatorChain } from '../../marketplace/till/rails/dollar/channel/facilitator-chain.ts'
import { OwnChain } from '../../marketplace/till/rails/dollar/channel/own-chain.ts'
import type { ChannelTerms } from '../../marketplace/till/rails/dollar/channel/terms.ts'
import { FacilitatorPool } from '../../marketplace/till/rails/dollar/facilitators.ts'
import { JsonRpcNode } from '../adapters/evm/json-rpc-node.ts'
import { EvmRpc } from '../adapters/evm-rpc.ts'
import { EvmKeySender } from '../adapters/evm-sender.ts'
import { type FacilitatorAuth, HttpFacilitator } from '../adapters/facilitator-http.ts'
import type { DaemonOptions, Stop } from '../daemon/open-core.ts'
import { systemClock, systemTimers } from '../daemon/runtime.ts'
import { evmKeyIn } from './dollar-terms.ts'

/** The chain side of channels, as the settings have it. */
export interface ChainSide {
  readonly channels: ChannelChain
  readonly closedBecause: () => string | null
  readonly start: () => Promise<void>
}

interface ChainParts {
  readonly options: Pick<DaemonOptions, 'config'>
  readonly auth: ReadonlyMap<string, FacilitatorAuth>
}

/** With a key that pays gas the node needs no facilitator. */
export async function chainSide(
  { options: { config }, auth }: ChainParts,
  signed: { readonly terms: ChannelTerms; readonly sign: AuthorizerKey },
  stops: Stop[],
): Promise<Result<ChainSide>> {
  const { channelGasKeyFile, rpcUrl, facilitators } = config.stable
  const { network } = signed.terms
  if (channelGasKeyFile === null) {
    const all = facilitators.map((url) => new HttpFacilitator(url, auth.get(url), 'batch-settlement'))
    const shared = { network, clock: systemClock, timers: systemTimers }
    const pool = new FacilitatorPool({ ...shared, facilitators: all, isOptional: true })
    stops.push(() => pool.stop())
    const channels = new FacilitatorChain({ ...signed, facilitators: pool })
    return ok({ channels, closedBecause: () => pool.closedBecause, start: () => pool.start() })
  }
  const key = await evmKeyIn(channelGasKeyFile)
  if (!key.ok) return key
  if (rpcUrl === null) {
    const allowed = 'an address, as stable.channel-gas-key-file is set'
    return fail(fault('config/value', { key: 'stable.rpc-url', value: '', allowed }))
  }
  const { chainId } = network
  const node = new JsonRpcNode(new URL(rpcUrl), "the node of the token's chain", chainId)
  const sender = new EvmKeySender({ node, chainId, key: fromHex(key.value) })
  const ledger = new EvmRpc(rpcUrl, chainId, () => systemClock.now())
  const channels = new OwnChain({ ...signed, sender, ledger })
  return ok({ channels, closedBecause: () => null, start: async () => {} })
}
