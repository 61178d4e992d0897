import { devSeed } from '../../config/networks/dev-keys.ts'
import { BlockExecution } from '../../consensus/chain/execution.ts'
import type { Amount } from '../../consensus/primitives/amount.ts'
import type { Address, TokenSymbol } from '../../consensus/primitives/ids.ts'
import { runNow } from '../../consensus/primitives/steps.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import { walletKey } from '../../src/crypto/wallet-key.ts'
import { VerifyPool } from '../../src/workers/verify-pool.ts'
import {
  type Action,
  type BenchChain,
  buildBlock,
  createFixture,
  importBytes,
  mineBlock,
  openBenchChain,
  signEach,
} from './fixture.ts'
import { type BenchRow, median, time } from './report.ts'

const PER_BLOCK = 300
const ROUNDS = 15
const THREADS = 2
const BASE_FEE = 32n

const FIXTURE = createFixture(2_000, PER_BLOCK)
const [FAR, FUSD, SALT, WOOL, XUSD] = ['FAR', 'FUSD', 'SALT', 'WOOL', 'XUSD'] as unknown as readonly [
  TokenSymbol,
  TokenSymbol,
  TokenSymbol,
  TokenSymbol,
  TokenSymbol,
]
const units = (value: bigint): Amount => value as Amount
const someone = (i: number): Address =>
  FIXTURE.params.genesis.allocations[10 + ((i * 7_919) % 1_900)]?.address as Address

const transfer = (i: number): Action => ({
  kind: 'transfer',
  payload: { to: someone(i), amount: units(1_000n), create: false },
})

/** A swap through one or three pools. The pools are deep enough for all swaps of a block. */
const swap = (hops: 1 | 3): Action => ({
  kind: 'swap',
  payload: {
    assetIn: hops === 1 ? FAR : FUSD,
    exactOut: false,
    amount: units(100_000n),
    limit: units(0n),
    hops: [
      ...(hops === 1 ? [{ asset: SALT, feeBps: 30 }] : []),
      ...(hops === 3
        ? [
            { asset: FAR, feeBps: 30 },
            { asset: SALT, feeBps: 30 },
            { asset: WOOL, feeBps: 100 },
          ]
        : []),
    ],
  },
})

/** The most used kinds of transactions, in turn. */
function mixed(i: number): Action {
  switch (i % 10) {
    case 0:
    case 1:
    case 2:
      return transfer(i)
    case 3:
    case 4:
      return { kind: 'token_transfer', payload: { symbol: FUSD, to: someone(i), amount: units(5n), create: false } }
    case 5:
      return swap(1)
    case 6:
      return swap(3)
    case 7:
      return { kind: 'stake', payload: { tier: i % 4, amount: units(100_000_000n) } }
    case 8:
      return { kind: 'stable_redeem', payload: { symbol: FUSD, amount: units(7n), minPaid: units(1n) } }
    default:
      return { kind: 'token_burn', payload: { symbol: SALT, amount: units(1n) } }
  }
}

/** The cost of a swap against a transfer, and of a block of many kinds against one of transfers, without signatures. */
export async function benchKinds(): Promise<readonly BenchRow[]> {
  const verifier = new VerifyPool(THREADS)
  const bench = await openBenchChain(FIXTURE, verifier)
  await endow(bench)
  const single = await applyTimes(bench)
  const whole = await connectTimes(bench)
  await bench.close()
  await verifier.close()
  return [
    against('a swap over one pool, applied', single.swap1, 'a transfer', single.transfer, 3),
    against('a swap over three pools, applied', single.swap3, 'a transfer', single.transfer, 3),
    against(`a block of ${PER_BLOCK} mixed transactions, connected`, whole.mixed, 'of transfers', whole.transfers, 1.3),
  ]
}

function against(
  what: string,
  values: readonly number[],
  bound: string,
  bounds: readonly number[],
  most: number,
): BenchRow {
  const [figure, base] = [median(values), median(bounds)]
  return {
    what: `${what} (bound: ${bound}, ${base.toPrecision(3)} ms for ${PER_BLOCK})`,
    figure: `${figure.toPrecision(3)} ms for ${PER_BLOCK}`,
    ratio: figure / base,
    goal: `<= ${most} of the bound`,
    met: figure <= most * base,
  }
}

/** Gives every sender some of each asset and makes the chain know its keys. */
async function endow({ chain }: BenchChain): Promise<void> {
  const donor = walletKey(devSeed(1))
  const { senders } = FIXTURE
  const gifts = [FUSD, SALT, WOOL, XUSD].flatMap((symbol) =>
    senders.map(({ address }): Action => {
      const payload = { symbol, to: address, amount: units(1_000_000n), create: false }
      return { kind: 'token_transfer', payload }
    }),
  )
  for (let first = 0; first < gifts.length; first += PER_BLOCK) {
    const block: Transaction[] = []
    for (const [i, gift] of gifts.slice(first, first + PER_BLOCK).entries())
      block.push(...(await signEach(chain, [donor], BigInt(first + i), () => gift)))
    await mineBlock(chain, block)
  }
  const half = PER_BLOCK / 2
  for (const part of [senders.slice(0, half), senders.slice(half)])
    await mineBlock(chain, await signEach(chain, part, 0n, transfer))
}

/** Times to execute transactions on the head's state. Nothing is kept, so all rounds begin alike. */
async function applyTimes({ chain }: BenchChain) {
  const kinds = { transfer, swap1: () => swap(1), swap3: () => swap(3) }
  const signed = new Map<keyof typeof kinds, readonly Transaction[]>()
  for (const name of Object.keys(kinds) as (keyof typeof kinds)[])
    signed.set(name, await signEach(chain, FIXTURE.senders, 1n, kinds[name]))
  const times = { transfer: [] as number[], swap1: [] as number[], swap3: [] as number[] }
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, transactions] of signed) times[name].push(await time(() => applyAll(chain, transactions)))
  }
  return times
}

function applyAll(chain: BenchChain['chain'], transactions: readonly Transaction[]): void {
  const height = chain.head.header.height + 1
  const execution = new BlockExecution(chain.ruleBook, chain.database, {
    height,
    miner: someone(0),
    baseFee: BASE_FEE,
  })
  runNow(execution.begin())
  for (const tx of transactions) {
    const refusal = execution.apply(tx)
    if (refusal !== null) throw new Error(refusal.code)
  }
  const executed = runNow(execution.close())
  const failed = executed.receipts.find((receipt) => receipt.type === 'transaction' && receipt.code !== 0)
  if (failed !== undefined) throw new Error(`a transaction failed: ${failed.type === 'transaction' ? failed.code : ''}`)
}

/** Times to connect blocks whose signatures are checked already: by turns one of transfers and one of mixed kinds. */
async function connectTimes({ chain }: BenchChain) {
  const times = { transfers: [] as number[], mixed: [] as number[] }
  const actions = { transfers: transfer, mixed }
  for (let nonce = 1n; nonce < 2 * ROUNDS; nonce++) {
    const name = nonce % 2n === 1n ? 'transfers' : 'mixed'
    const bytes = await buildBlock(chain, await signEach(chain, FIXTURE.senders, nonce, actions[name]))
    times[name].push(await time(() => importBytes(chain, bytes)))
  }
  return times
}
