import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import type { TokenSymbol } from '../../consensus/primitives/ids.ts'
import type { AssetView } from '../../rpc/client/ledger-client.ts'
import type { CommandContext } from './command.ts'

type Network = Pick<CommandContext, 'params'>

/** The native coin. */
export function nativeAsset({ params }: Network): AssetView {
  return { symbol: params.ticker as TokenSymbol, decimals: params.decimals }
}

/** The native coin or a genesis token. This release knows them itself, so a node cannot lie about them. */
export function knownAsset(network: Network, symbol: string): AssetView | undefined {
  const native = nativeAsset(network)
  return symbol === native.symbol
    ? native
    : network.params.genesis.ledgers.tokens.find((token) => token.symbol === symbol)
}

/** The lines about decimals that were printed, for each command. */
const told = new WeakMap<object, Set<string>>()

/** Prints decimals that only the node knows, since they determine the amount that is signed. Each line is printed once. */
export function tellDecimals(context: Pick<CommandContext, 'params' | 'note'>, { symbol, decimals }: AssetView): void {
  if (knownAsset(context, symbol) !== undefined) return
  const said = told.get(context) ?? new Set()
  told.set(context, said)
  const line = `${symbol} has ${decimals} decimals, says the node`
  if (!said.has(line)) context.note(line)
  said.add(line)
}

/** A fault if the node's decimals differ from those known here: they would change the amount to sign. Null if none differ. */
export function assetLie(network: Network, assets: readonly AssetView[]): Fault | null {
  for (const { symbol, decimals } of assets) {
    const known = knownAsset(network, symbol)
    if (known === undefined || known.decimals === decimals) continue
    const message = `its answer gives ${symbol} ${decimals} decimals, which has ${known.decimals}`
    return fault('cli/refused', { message })
  }
  return null
}
