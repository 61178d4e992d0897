import { rmSync, writeFileSync } from 'node:fs'
import { encodeBlock } from '../../consensus/block/block.ts'
import type { Chain } from '../../consensus/chain/chain.ts'
import type { NetworkParams } from '../../consensus/chain/params.ts'
import { UNPACED } from '../../consensus/chain/ports.ts'
import { decodeReceipt } from '../../consensus/ledger/receipt.ts'
import type { Transaction } from '../../consensus/tx/transaction.ts'
import { buildTemplate } from '../../miner/template.ts'
import { VerifyPool } from '../../src/workers/verify-pool.ts'
import { importBytes } from './fixture.ts'
import { type BenchRow, median } from './report.ts'
import { READY, type Shape, signDrafts } from './worst-drafts.ts'
import { reference, shapes } from './worst-shapes.ts'
import { TABS_READY } from './worst-tabs.ts'
import { bigFolder, copyFolder, deepAddresses, openFolder, worstParams } from './worst-world.ts'

const THREADS = 2
/** Blocks that are measured for each measurement of the blocks that they are compared with. */
const MEASURED_BESIDE = 6
/** Allowed cost of a kind, as a multiple of transfers of the same weight. */
const DEARER_MAX = 2

/** File that records a run. */
const RECORD = new URL('./worst-block.json', import.meta.url)

/** Options of `npm run bench -- worst-block`. */
export interface WorstOptions {
  readonly accounts: number
  readonly record: boolean
  readonly rounds: number
  /** Only shapes whose name contains this text; empty for all. */
  readonly only: string
}

/** A filled block, ready for import on a copy of the folder. */
interface Filled {
  readonly shape: Shape
  readonly before: readonly Uint8Array[]
  readonly block: Uint8Array
  /** Two empty blocks of a rival branch, which disconnect `block`. */
  readonly instead: readonly [Uint8Array, Uint8Array]
  readonly transactions: number
  readonly failed: number
  readonly weight: number
  readonly bytes: number
}

interface Cost {
  /** Processor time of all threads, ms. */
  readonly cpuMs: number
  /** CPU time of the main thread, ms. */
  readonly mainMs: number
  readonly undoMs: number
}

/** A block's cost in a round, and the costs measured beside it. */
interface Measured {
  readonly own: Cost
  readonly transfers: Cost
  readonly empty: Cost
}

/** The blocks that every block is compared with. */
interface Beside {
  readonly transfers: Filled
  readonly empty: Filled
}

/** One line of the recorded table. */
export interface WorstFigure {
  readonly kind: string
  readonly what: string
  readonly transactions: number
  readonly failed: number
  readonly weight: number
  readonly cpuMs: number
  readonly mainMs: number
  readonly undoMs: number
  /**
   * CPU time per unit of weight, less that of an empty block, as a multiple of the transfers' figure. `mainDearer` is
   * the same for the main thread alone.
   */
  readonly dearer: number
  readonly mainDearer: number
}

/** Fills a block in every shape, imports it on a cold state of many accounts, and compares its cost with that of transfers. */
export async function benchWorstBlock({ accounts, record, only, rounds }: WorstOptions): Promise<readonly BenchRow[]> {
  const params = worstParams()
  const deep = deepAddresses()
  const folder = await bigFolder(accounts, params, deep)
  const verifier = new VerifyPool(THREADS)
  const bench = new WorstBench(await readyFolder(folder, params, verifier), params, verifier)
  const world = { accounts, deep }
  const beside = {
    transfers: await bench.fill(reference(world)),
    empty: await bench.fill({ kind: 'transfer', what: 'nothing', fill: () => [] }),
  }
  const filled: Filled[] = []
  for (const shape of shapes(world).filter(({ kind, what }) => `${kind}: ${what}`.includes(only)))
    filled.push(await bench.fill(shape))
  const figures = await bench.measure(beside, filled, rounds)
  await bench.end()
  await verifier.close()
  if (record) writeFileSync(RECORD, `${JSON.stringify({ accounts, figures }, null, 2)}\n`)
  return figures.map(rowOf)
}

/** A copy of the folder with everything that the kinds need. */
async function readyFolder(folder: string, params: NetworkParams, verifier: VerifyPool): Promise<string> {
  const ready = copyFolder(folder)
  const { chain, close } = await openFolder(ready, params, verifier)
  for (const drafts of [...READY, ...TABS_READY]) {
    const { block } = await nextBlock(chain, await signDrafts(chain, drafts(chain)))
    await importBytes(chain, block)
  }
  await close()
  return ready
}

/** `extra` makes two empty blocks on the same parent differ. */
async function nextBlock(chain: Chain, candidates: readonly Transaction[], extra = 0) {
  for (const { wtxId } of candidates) chain.verified.add(wtxId)
  const nowMs = chain.head.header.timeMs + 3_000
  const miner = chain.ruleBook.params.genesis.allocations[0]?.address as never
  const template = await buildTemplate(chain, UNPACED, {
    miner,
    nowMs,
    candidates,
    extra: new Uint8Array(32).fill(extra),
  })
  if (template === undefined) throw new Error('the head moved')
  const [refused] = template.refused
  if (refused !== undefined) throw new Error(`a candidate was refused: ${JSON.stringify(refused.fault)}`)
  return { block: encodeBlock(template.block), template }
}

class WorstBench {
  readonly #ready: string
  readonly #params: NetworkParams
  readonly #verifier: VerifyPool

  constructor(ready: string, params: NetworkParams, verifier: VerifyPool) {
    this.#ready = ready
    this.#params = params
    this.#verifier = verifier
  }

  async #onCopy<T>(work: (chain: Chain) => Promise<T>): Promise<T> {
    const folder = copyFolder(this.#ready)
    const { chain, close } = await openFolder(folder, this.#params, this.#verifier)
    try {
      return await work(chain)
    } finally {
      await close()
      rmSync(folder, { recursive: true, force: true })
    }
  }

  /** Fills a block in a shape, up to the block's limits. */
  fill(shape: Shape): Promise<Filled> {
    return this.#onCopy(async (chain) => {
      const before: Uint8Array[] = []
      for (const drafts of shape.before ?? []) {
        const { block } = await nextBlock(chain, await signDrafts(chain, drafts(chain)))
        await importBytes(chain, block)
        before.push(block)
      }
      const { block, template } = await nextBlock(chain, await signDrafts(chain, shape.fill(chain)))
      const first = (await nextBlock(chain, [], 1)).block
      await importBytes(chain, first)
      const instead = [first, (await nextBlock(chain, [], 1)).block] as const
      const { transactions, header } = template.block
      const sizes = { transactions: transactions.length, weight: header.weightUsed, bytes: block.length }
      const failed = await this.#failures([...before, block])
      return { shape, before, block, instead, failed, ...sizes }
    })
  }

  /** Number of failed transactions in the last block. */
  #failures(blocks: readonly Uint8Array[]): Promise<number> {
    return this.#onCopy(async (chain) => {
      for (const bytes of blocks) await importBytes(chain, bytes)
      const receipts = (chain.database.receipts(chain.head.id) ?? []).map(decodeReceipt)
      return receipts.filter((receipt) => receipt.type === 'transaction' && receipt.code !== 0).length
    })
  }

  /**
   * What it costs to import a filled block, and then to disconnect it. Each time the chain is opened anew, so that no earlier measurement
   * has filled its caches.
   */
  #cost({ before, block, instead }: Filled): Promise<Cost> {
    return this.#onCopy(async (chain) => {
      for (const bytes of before) await importBytes(chain, bytes)
      const done = await cpuOf(() => importBytes(chain, block))
      await importBytes(chain, instead[0])
      const undone = await cpuOf(() => importBytes(chain, instead[1]))
      if (chain.head.header.parent === undefined) throw new Error('the block was not taken back')
      return { ...done, undoMs: undone.cpuMs }
    })
  }

  /** Measures every block once a round, and between them the blocks that they are compared with. */
  async measure(beside: Beside, all: readonly Filled[], rounds: number): Promise<readonly WorstFigure[]> {
    const costs = all.map((): Measured[] => [])
    for (let warming = 0; warming < 3; warming++) await this.#cost(beside.transfers)
    for (let round = 0; round < rounds; round++) {
      let [transfers, empty] = [await this.#cost(beside.transfers), await this.#cost(beside.empty)]
      for (const [i, filled] of all.entries()) {
        if (i % MEASURED_BESIDE === 0)
          [transfers, empty] = [await this.#cost(beside.transfers), await this.#cost(beside.empty)]
        costs[i]?.push({ transfers, empty, own: await this.#cost(filled) })
      }
    }
    return all.map(({ shape, transactions, failed, weight }, i) => {
      const measured = costs[i] ?? []
      const of = (part: keyof Cost): number => Math.round(median(measured.map(({ own }) => own[part])))
      const { kind, what } = shape
      const times = { cpuMs: of('cpuMs'), mainMs: of('mainMs'), undoMs: of('undoMs') }
      const ratio = (part: keyof Cost): number => {
        const ratios = measured.map(({ own, transfers, empty }) => {
          const perWeight = (own[part] - empty[part]) / weight
          return (perWeight * beside.transfers.weight) / (transfers[part] - empty[part])
        })
        return Number(median(ratios).toFixed(2))
      }
      const ratios = { dearer: ratio('cpuMs'), mainDearer: ratio('mainMs') }
      return { kind, what, transactions, failed, weight, ...times, ...ratios }
    })
  }

  async end(): Promise<void> {
    rmSync(this.#ready, { recursive: true, force: true })
  }
}

async function cpuOf(work: () => Promise<unknown>): Promise<Pick<Cost, 'cpuMs' | 'mainMs'>> {
  const all = process.cpuUsage()
  const main = process.threadCpuUsage()
  await work()
  const [spent, own] = [process.cpuUsage(all), process.threadCpuUsage(main)]
  return { cpuMs: (spent.user + spent.system) / 1_000, mainMs: (own.user + own.system) / 1_000 }
}

function rowOf({
  kind,
  what,
  transactions,
  failed,
  weight,
  cpuMs,
  mainMs,
  undoMs,
  dearer,
  mainDearer,
}: WorstFigure): BenchRow {
  const counts = `${transactions} transactions${failed === 0 ? '' : `, ${failed} fail`}, weight ${weight}`
  return {
    what: `${kind}: ${what} (${counts})`,
    figure: `${cpuMs} ms of CPU, ${mainMs} on the main thread (${mainDearer}), ${undoMs} to take back`,
    ratio: dearer,
    goal: `<= ${DEARER_MAX} of a transfer`,
    met: dearer <= DEARER_MAX,
  }
}
