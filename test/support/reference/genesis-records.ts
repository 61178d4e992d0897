import { sum } from './arithmetic.ts'
import { openedNetwork } from './bridge-kinds.ts'
import { unhex, ZERO32 } from './bytes.ts'
import { assetOf, Ledger, NATIVE, networkId } from './ledger.ts'
import type { ReferenceGenesis, ReferenceRules } from './params.ts'
import { openPool } from './pool-kinds.ts'
import { priceEntry } from './prices.ts'
import type { Records } from './table.ts'
import { skeletonId, TOKEN_KIND } from './token-kinds.ts'

type Ledgers = ReferenceGenesis['ledgers']

interface Beginning {
  readonly ledger: Ledger
  readonly ledgers: Ledgers
  readonly asset: (symbol: string) => string
}

function beginTokens({ ledger, ledgers, asset }: Beginning): void {
  for (const { symbol, name, decimals, kind, issuer, freezable, maxSupply } of ledgers.tokens) {
    const flags = { freezable, frozen: false, hidden: false }
    const token = { version: 1, name, decimals, kind: TOKEN_KIND[kind], issuer: issuer ?? ZERO32, ...flags }
    ledger.tokens.set(asset(symbol), { ...token, createdAt: 0 })
    ledger.supply.set(asset(symbol), { minted: 0n, burned: 0n, cap: maxSupply })
    ledger.skeletons.set(skeletonId(symbol), { asset: asset(symbol) })
  }
  for (const { symbol, address, amount } of ledgers.balances) {
    ledger.mint(amount, asset(symbol))
    ledger.give(address, asset(symbol), amount, true)
  }
}

function beginReserves({ ledger, ledgers, asset }: Beginning): void {
  for (const { symbol, reserveSymbol, reserve } of ledgers.stables) {
    ledger.mint(reserve, asset(reserveSymbol))
    ledger.stableReserves.set(asset(symbol), { reserveAsset: asset(reserveSymbol), reserve })
  }
  for (const { assetA, assetB, feeBps, amountA, amountB, owner } of ledgers.pools) {
    ledger.mint(amountA, asset(assetA))
    ledger.mint(amountB, asset(assetB))
    openPool(ledger, [asset(assetA), amountA], [asset(assetB), amountB], { feeBps, owner, height: 0 })
  }
}

function beginBridge({ ledger, ledgers, asset }: Beginning, { bridge }: ReferenceRules): void {
  const { committee, vaults, deposited } = ledgers.bridge
  for (const { network, address } of vaults) {
    const symbol = (bridge.networks[network] as (typeof bridge.networks)[number]).asset
    const amount = sum(deposited.map((one) => (one.network === network ? one.amount : 0n)))
    ledger.networks.set(networkId(network), { ...openedNetwork(asset(symbol), address), deposited: amount })
  }
  if (committee === null) return
  const keys = committee.keys.map(({ scheme, hex }) => ({ scheme, bytes: unhex(hex) }))
  ledger.committee.set('', { epoch: 0, threshold: committee.threshold, keys, rotation: [] })
}

export function genesisRecords({ allocations, ledgers }: ReferenceGenesis, rules: ReferenceRules): Records {
  const ledger = new Ledger(new Map())
  const { symbol, supplyCap } = rules.coin
  const asset = (one: string): string => assetOf(one, symbol)
  const minted = sum(allocations.map(({ amount }) => amount))
  ledger.supply.set(NATIVE, { minted, burned: 0n, cap: supplyCap })
  ledger.skeletons.set(skeletonId(symbol), { asset: NATIVE })
  for (const { address, amount } of allocations) ledger.credit(address, amount, true)
  const beginning = { ledger, ledgers, asset }
  beginTokens(beginning)
  beginReserves(beginning)
  beginBridge(beginning, rules)
  priceEntry(ledger, 0, rules)
  return ledger.records
}
