import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import type { TokenSymbol } from '../../consensus/primitives/ids.ts'
import type { AssetView } from '../../rpc/client/ledger-views.ts'
import type { CommandContext } from './command.ts'

/** The network as this release knows it. */
type Network = Pick<CommandContext, 'params'>

/** The native coin. */
export function nativeAsset({ params }: Network): AssetView {
  return { symbol: params.ticker as TokenSymbol, decimals: params.decimals }
}

/** The native coin or a token that the network began with: what this release knows itself, no node can lie about. */
export function knownAsset(network: Network, symbol: string): AssetView | undefined {
  const native = nativeAsset(network)
  return symbol === native.symbol
    ? native
    : network.params.genesis.ledgers.tokens.find((token) => token.symbol === symbol)
}

/** Says the decimals that only the node knows: they make the amount that is signed. */
export function tellDecimals({ params, note }: Pick<CommandContext, 'params' | 'note'>, asset: AssetView): void {
  const { symbol, decimals } = asset
  if (knownAsset({ params }, symbol) === undefined) note(`${symbol} has ${decimals} decimals, says the node`)
}

/** Why what a node says of assets cannot be: other decimals would make another amount of what was asked for. Or null. */
export function assetLie(network: Network, assets: readonly AssetView[]): Fault | null {
  for (const { symbol, decimals } of assets) {
    const known = knownAsset(network, symbol)
    if (known === undefined || known.decimals === decimals) continue
    const message = `its answer gives ${symbol} ${decimals} decimals, which has ${known.decimals}`
    return fault('cli/refused', { message })
  }
  return null
}
