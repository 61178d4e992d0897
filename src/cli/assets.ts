import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import type { TokenSymbol } from '../../consensus/primitives/ids.ts'
import type { AssetView } from '../../rpc/client/ledger-client.ts'
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

/** What a command has said of assets. */
const told = new WeakMap<object, Set<string>>()

/** Says the decimals that only the node knows, once in a command for each answer: they make the amount that is signed. */
export function tellDecimals(context: Pick<CommandContext, 'params' | 'note'>, { symbol, decimals }: AssetView): void {
  if (knownAsset(context, symbol) !== undefined) return
  const said = told.get(context) ?? new Set()
  told.set(context, said)
  const line = `${symbol} has ${decimals} decimals, says the node`
  if (!said.has(line)) context.note(line)
  said.add(line)
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
