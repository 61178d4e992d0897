import { hex, join, unhex, utf8 } from './bytes.ts'
import type { GenesisPool, Ledgers } from './network-ledgers.ts'
import { container, listOfVarying, tagged, u8, u16, u32, u64, u128, u256, type Varying, vary } from './tx-wire.ts'

/** A record of the genesis state. This file is written from the table of docs/spec/ledgers.md. */

export interface StateRecord {
  readonly key: Uint8Array
  readonly value: Uint8Array
}

/** All inputs of the genesis state. */
export interface Beginning {
  readonly ledgers: Ledgers
  readonly allocations: readonly { readonly address: string; readonly amount: bigint }[]
  readonly supplyCap: bigint
  /** Wrapped token by bridge network. */
  readonly bridged: readonly string[]
  /** Dollar symbol and fee of the pool that prices FAR. */
  readonly priced: { readonly dollar: string; readonly feeBps: number }
}

const NATIVE = '00'.repeat(32)
const KINDS = ['plain', 'stable', 'bridged']
const bool = (value: boolean): Uint8Array => u8(value ? 1 : 0)

function assetOf(symbol: string): string {
  return symbol === 'FAR' ? NATIVE : hex(utf8(symbol)).padEnd(64, '0')
}

function skeletonOf(symbol: string): string {
  return [...symbol].map((char) => ({ 0: 'O', 1: 'I', 2: 'Z', 5: 'S', 8: 'B' })[char] ?? char).join('')
}

/** floor(sqrt(n)) by Newton's method. */
function root(n: bigint): bigint {
  let x = n
  for (let y = (x + 1n) / 2n; y < x; y = (x + n / x) / 2n) x = y
  return x
}

/** Sums by name. */
class Sums {
  readonly #sums = new Map<string, bigint>()

  add(name: string, amount: bigint): void {
    this.#sums.set(name, (this.#sums.get(name) ?? 0n) + amount)
  }

  get(name: string): bigint {
    return this.#sums.get(name) ?? 0n
  }
}

/** Amounts that genesis mints, by asset. */
function mintedIn({ ledgers, allocations }: Beginning): Sums {
  const minted = new Sums()
  for (const { amount } of allocations) minted.add(NATIVE, amount)
  for (const { symbol, amount } of ledgers.balances) minted.add(assetOf(symbol), amount)
  for (const { reserveSymbol, reserve } of ledgers.stables) minted.add(assetOf(reserveSymbol), reserve)
  for (const { assetA, assetB, amountA, amountB } of ledgers.pools) {
    minted.add(assetOf(assetA), amountA)
    minted.add(assetOf(assetB), amountB)
  }
  return minted
}

function record(prefix: number, id: string, ...value: readonly (Uint8Array | Varying)[]): StateRecord {
  return { key: join(u8(prefix), unhex(id)), value: container(...value) }
}

function accountRecords({ ledgers, allocations }: Beginning): readonly StateRecord[] {
  const balances = new Map(allocations.map(({ address, amount }) => [address, amount]))
  for (const { address } of ledgers.balances) if (!balances.has(address)) balances.set(address, 0n)
  return [...balances].map(([address, balance]) =>
    record(0x01, address, u8(1), u64(0), u128(balance), new Uint8Array(32)),
  )
}

function tokenRecords(beginning: Beginning): readonly StateRecord[] {
  const { tokens, balances } = beginning.ledgers
  const minted = mintedIn(beginning)
  const supply = (asset: string, cap: bigint): StateRecord =>
    record(0x02, asset, u128(minted.get(asset)), u128(0), u128(cap))
  const skeleton = (symbol: string): StateRecord => record(0x11, hex(utf8(skeletonOf(symbol))), unhex(assetOf(symbol)))
  return [
    supply(NATIVE, beginning.supplyCap),
    skeleton('FAR'),
    ...tokens.flatMap(({ symbol, name, decimals, kind, maxSupply, issuer, freezable }) => [
      record(
        0x10,
        assetOf(symbol),
        ...[u8(1), vary(utf8(name)), u8(decimals), u8(KINDS.indexOf(kind)), unhex(issuer ?? NATIVE)],
        ...[bool(freezable), bool(false), bool(false), u32(0)],
      ),
      supply(assetOf(symbol), maxSupply),
      skeleton(symbol),
    ]),
    ...balances.map(({ symbol, address, amount }) => record(0x12, address + assetOf(symbol), u128(amount))),
    ...beginning.ledgers.stables.map(({ symbol, reserveSymbol, reserve }) =>
      record(0x13, assetOf(symbol), unhex(assetOf(reserveSymbol)), u128(reserve)),
    ),
  ]
}

function poolRecords({ ledgers, priced }: Beginning): readonly StateRecord[] {
  return ledgers.pools.flatMap((pool) => {
    const [x, y, reserveX, reserveY] = sides(pool)
    const id = hex(tagged('farthing/pool-id/1', unhex(x), unhex(y), u16(pool.feeBps)))
    const shares = root(reserveX * reserveY)
    const isPriced = pool.feeBps === priced.feeBps && x === NATIVE && y === assetOf(priced.dollar)
    return [
      record(
        0x20,
        id,
        ...[u8(1), unhex(x), unhex(y), u16(pool.feeBps), u128(reserveX), u128(reserveY), u128(shares)],
        ...[u256(0), u256(0), u32(0), u32(0)],
      ),
      record(0x21, pool.owner + id, u128(shares - 1_000n)),
      ...(isPriced ? [record(0x22, '00000000', u256(0), u128(reserveX), u128(reserveY))] : []),
    ]
  })
}

/** The two assets of a pool and their reserves, the lower asset id first. */
function sides({ assetA, assetB, amountA, amountB }: GenesisPool): readonly [string, string, bigint, bigint] {
  const [a, b] = [assetOf(assetA), assetOf(assetB)]
  return a < b ? [a, b, amountA, amountB] : [b, a, amountB, amountA]
}

function bridgeRecords({ ledgers, bridged }: Beginning): readonly StateRecord[] {
  const { committee, vaults, deposited } = ledgers.bridge
  const networks = vaults.map(({ network, address }) => {
    const held = deposited.find((one) => one.network === network)?.amount ?? 0n
    return record(
      0x41,
      hex(u8(network)),
      ...[u8(1), unhex(assetOf(bridged[network] as string)), vary(utf8(address)), bool(false), u128(held)],
      ...[u128(0), u128(0), u128(0), u32(0), u128(0), u64(0), u64(0)],
    )
  })
  if (committee === null) return networks
  const keys = committee.keys.map((key) => container(u8(key.scheme), vary(unhex(key.hex))))
  const parts = [u32(0), u8(committee.threshold), vary(listOfVarying(keys)), vary(new Uint8Array(0))]
  return [...networks, record(0x40, '', ...parts)]
}

export function genesisRecords(beginning: Beginning): readonly StateRecord[] {
  return [
    ...accountRecords(beginning),
    ...tokenRecords(beginning),
    ...poolRecords(beginning),
    ...bridgeRecords(beginning),
  ]
}
