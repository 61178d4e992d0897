import { poolIdOf } from '../../amm/pool.ts'
import { DEVNET_LEDGERS } from '../../config/networks/devnet-ledgers.ts'
import type { Block } from '../../consensus/block/block.ts'
import { assetOf } from '../../consensus/ledger/asset.ts'
import { decodeReceipt } from '../../consensus/ledger/receipt.ts'
import type { Hash, PoolId, TokenSymbol } from '../../consensus/primitives/ids.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import { blocksFrom } from './branches.ts'
import { TestChain, wallet } from './chain.ts'
import { units } from './unsigned.ts'

const FAR = 'FAR' as TokenSymbol
const SYMBOLS = ['FAR', 'FUSD', 'SALT', 'WOOL', 'XUSD'] as TokenSymbol[]
const FEES = [5, 30, 100]
const COINS = { symbol: FAR }

const asset = (symbol: TokenSymbol): Hash => assetOf(symbol, COINS)

/** Grows a chain by random swaps and changes of liquidity over hours. */
export class TradingChain {
  readonly test: TestChain
  readonly #random: () => number

  constructor(test: TestChain, random: () => number) {
    this.test = test
    this.#random = random
  }

  /** Mines `count` blocks. About one in four comes 17 minutes to 2.5 hours after its parent, so that trades fall into several hours. */
  async grow(count: number): Promise<readonly Block[]> {
    const blocks: Block[] = []
    for (let i = 0; i < count; i++) {
      const transactions: Transaction[] = []
      for (let n = this.#below(5); n > 0; n--) transactions.push(await this.#transaction())
      const extra = new Uint8Array(32).map(() => this.#below(256))
      const afterMs = this.#below(4) === 0 ? 1_000_000 * (1 + this.#below(9)) : 3_000
      blocks.push(await this.test.mine(transactions, { extra, afterMs }))
    }
    return blocks
  }

  /** A chain with this one's blocks up to a height. */
  async branch(height: number): Promise<TradingChain> {
    const test = await TestChain.open(this.test.ruleBook)
    for (const block of blocksFrom(this.test, 1).slice(0, height)) {
      test.nowMs = block.header.timeMs
      await test.import(block)
    }
    return new TradingChain(test, this.#random)
  }

  #below(bound: number): number {
    return Math.floor(this.#random() * bound)
  }

  #pick<T>(values: readonly T[]): T {
    return values[this.#below(values.length)] as T
  }

  /** An amount. Now and then it is too small for a pool, or more than any wallet has. */
  #amount() {
    return units(10n ** BigInt(1 + this.#below(12)) * BigInt(1 + this.#below(9)))
  }

  async #transaction(): Promise<Transaction> {
    const { test } = this
    const signer = wallet(1 + this.#below(8))
    const [assetA, assetB, feeBps] = this.#pair()
    const choice = this.#below(12)
    if (choice === 0) {
      const amounts = { amountA: this.#amount(), amountB: this.#amount() }
      return test.tx(signer, 'pool_create', { assetA, assetB, feeBps, ...amounts })
    }
    if (choice < 3) {
      const amounts = { amountA: this.#amount(), amountB: this.#amount(), minShares: units(0) }
      return test.tx(signer, 'liquidity_add', { assetA, assetB, feeBps, ...amounts })
    }
    if (choice === 3) {
      const least = { minA: units(0), minB: units(0) }
      return test.tx(wallet(3), 'liquidity_remove', { assetA, assetB, feeBps, shares: this.#amount(), ...least })
    }
    return test.tx(signer, 'swap', this.#swap())
  }

  #swap() {
    const exactOut = this.#below(4) === 0
    const hops = this.#pick([
      { from: 'FAR', way: [['FUSD', 30]] },
      { from: 'FUSD', way: [['FAR', 30]] },
      { from: 'FAR', way: [['SALT', 30]] },
      { from: 'SALT', way: [['WOOL', 100]] },
      { from: 'WOOL', way: [['SALT', 100]] },
      {
        from: 'FUSD',
        way: [
          ['FAR', 30],
          ['SALT', 30],
          ['WOOL', 100],
        ],
      },
      {
        from: 'FAR',
        way: [
          ['SALT', 30],
          ['FAR', 30],
          ['SALT', 30],
        ],
      },
    ] as const)
    const way = exactOut ? hops.way.slice(0, 1) : hops.way
    return {
      assetIn: hops.from as TokenSymbol,
      exactOut,
      amount: this.#amount(),
      limit: exactOut ? units(10n ** 20n) : units(0),
      hops: way.map(([symbol, feeBps]) => ({ asset: symbol as TokenSymbol, feeBps })),
    }
  }

  #pair(): readonly [TokenSymbol, TokenSymbol, number] {
    const [one, other, fee] = this.#pick([
      ['FAR', 'FUSD', 30],
      ['SALT', 'FAR', 30],
      ['SALT', 'WOOL', 100],
      ['XUSD', 'FUSD', 5],
      [this.#pick(SYMBOLS), this.#pick(SYMBOLS), this.#pick(FEES)],
    ] as const)
    return one === other ? this.#pair() : [one as TokenSymbol, other as TokenSymbol, fee]
  }
}

/** A trade as the onlooker works it out, with X and Y in the order of the pool. */
export interface SeenTrade {
  readonly poolId: PoolId
  readonly txId: string
  readonly height: number
  readonly index: number
  readonly hop: number
  readonly timeMs: number
  readonly xIn: boolean
  readonly feeBps: bigint
  readonly amountIn: bigint
  readonly amountOut: bigint
  /** Reserves before the trade. */
  readonly reserveIn: bigint
  readonly reserveOut: bigint
}

/** Reserves of a changed pool after a block. */
export interface SeenReserves {
  readonly poolId: PoolId
  readonly timeMs: number
  readonly reserveX: bigint
  readonly reserveY: bigint
}

interface Funds {
  x: bigint
  y: bigint
  shares: bigint
}

const isqrt = (value: bigint): bigint => {
  let [low, high] = [0n, 1n << 128n]
  while (low < high) {
    const middle = (low + high + 1n) >> 1n
    if (middle * middle <= value) low = middle
    else high = middle - 1n
  }
  return low
}

/**
 * A second implementation of trades. It computes them from the payloads, by the formulas of the specification. From
 * receipts it uses only whether a transaction succeeded.
 */
export class Onlooker {
  readonly trades: SeenTrade[] = []
  readonly reserves: SeenReserves[] = []
  readonly funds = new Map<PoolId, Funds>()

  constructor({ chain }: TestChain) {
    const { genesis } = chain.ruleBook
    for (const { assetA, assetB, feeBps, amountA, amountB } of DEVNET_LEDGERS.pools) {
      this.#create(assetA, assetB, feeBps, amountA, amountB)
    }
    this.#look(genesis.block, new Set(this.funds.keys()))
    const { database } = chain
    for (let height = 1; height <= chain.head.header.height; height++) {
      const id = database.idAt(height) as never
      const good = new Set<string>()
      for (const bytes of database.receipts(id) as readonly Uint8Array[]) {
        const receipt = decodeReceipt(bytes)
        if (receipt.type === 'transaction' && receipt.code === 0) good.add(receipt.txId)
      }
      this.#see(database.block(id) as Block, good)
    }
  }

  #see(block: Block, good: ReadonlySet<string>): void {
    const touched = new Set<PoolId>()
    for (const [index, { txId, body }] of block.transactions.entries()) {
      if (!good.has(txId)) continue
      const { kind, payload } = body
      if (kind === 'pool_create') {
        const { assetA, assetB, feeBps, amountA, amountB } = payload
        touched.add(this.#create(assetA, assetB, feeBps, amountA, amountB))
      } else if (kind === 'liquidity_add') {
        const [pool, poolId, aIsX] = this.#pool(payload)
        const [ra, rb] = aIsX ? [pool.x, pool.y] : [pool.y, pool.x]
        const [forA, forB] = [(payload.amountA * pool.shares) / ra, (payload.amountB * pool.shares) / rb]
        const made = forA < forB ? forA : forB
        const up = (reserve: bigint): bigint => (made * reserve + pool.shares - 1n) / pool.shares
        this.funds.set(poolId, { x: pool.x + up(pool.x), y: pool.y + up(pool.y), shares: pool.shares + made })
        touched.add(poolId)
      } else if (kind === 'liquidity_remove') {
        const [pool, poolId] = this.#pool(payload)
        const left = (reserve: bigint): bigint => reserve - (payload.shares * reserve) / pool.shares
        this.funds.set(poolId, { x: left(pool.x), y: left(pool.y), shares: pool.shares - payload.shares })
        touched.add(poolId)
      } else if (kind === 'swap') {
        for (const poolId of this.#swap(block, index, txId, payload)) touched.add(poolId)
      }
    }
    this.#look(block, touched)
  }

  #swap(
    { header: { height, timeMs } }: Block,
    index: number,
    txId: string,
    payload: Extract<Transaction['body'], { kind: 'swap' }>['payload'],
  ): readonly PoolId[] {
    let [from, value] = [payload.assetIn, payload.amount as bigint]
    return payload.hops.map(({ asset: to, feeBps }, hop) => {
      const [pool, poolId, xIn] = this.#pool({ assetA: from, assetB: to, feeBps })
      const [rin, rout] = xIn ? [pool.x, pool.y] : [pool.y, pool.x]
      const kept = 10_000n - BigInt(feeBps)
      let [amountIn, amountOut] = [value, (rout * value * kept) / (rin * 10_000n + value * kept)]
      if (payload.exactOut) {
        const below = (rout - value) * kept
        amountIn = (rin * value * 10_000n + below - 1n) / below
        amountOut = value
      }
      pool[xIn ? 'x' : 'y'] += amountIn
      pool[xIn ? 'y' : 'x'] -= amountOut
      const place = { poolId, txId, height, index, hop, timeMs }
      this.trades.push({ ...place, xIn, feeBps: BigInt(feeBps), amountIn, amountOut, reserveIn: rin, reserveOut: rout })
      from = to
      value = amountOut
      return poolId
    })
  }

  #pool({ assetA, assetB, feeBps }: { assetA: TokenSymbol; assetB: TokenSymbol; feeBps: number }) {
    const [a, b] = [asset(assetA), asset(assetB)]
    const poolId = poolIdOf(a, b, feeBps)
    return [this.funds.get(poolId) as Funds, poolId, a < b] as const
  }

  #create(assetA: TokenSymbol, assetB: TokenSymbol, feeBps: number, amountA: bigint, amountB: bigint): PoolId {
    const [a, b] = [asset(assetA), asset(assetB)]
    const poolId = poolIdOf(a, b, feeBps)
    const [x, y] = a < b ? [amountA, amountB] : [amountB, amountA]
    this.funds.set(poolId, { x, y, shares: isqrt(x * y) })
    return poolId
  }

  #look({ header: { timeMs } }: Pick<Block, 'header'>, touched: ReadonlySet<PoolId>): void {
    for (const poolId of touched) {
      const { x, y } = this.funds.get(poolId) as Funds
      this.reserves.push({ poolId, timeMs, reserveX: x, reserveY: y })
    }
  }
}
