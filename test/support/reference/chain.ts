import { demand, hex, leniently, Refusal, tagged, unhex, utf8, ZERO32 } from './bytes.ts'
import { baseFeeAfter, targetAfter, workOf } from './difficulty.ts'
import { genesisRecords } from './genesis-records.ts'
import type { ReferenceGenesis, ReferenceRules, ReferenceStep } from './params.ts'
import type { Kind } from './payloads.ts'
import { argon2Pow, meetsTarget, type ReferencePow } from './proof-of-work.ts'
import { type AccountKeys, BLOCK, HEADER, type Header } from './schemas.ts'
import type { Records } from './table.ts'
import { checkForm, checkKeys, type ReferenceTransaction, readTransaction } from './transactions.ts'
import { applyBlock } from './transition.ts'
import { historyRoot, listRoot, stateRoot } from './trees.ts'

/** Header fields that follow from the ancestors of a block. */
export interface Expected {
  readonly target: bigint
  readonly baseFee: bigint
  readonly historyRoot: string
}

/** What follows from a block's body and its execution. */
export interface Computed {
  readonly transactionsRoot: string
  readonly witnessRoot: string
  readonly weight: number
  /** Kinds of the transactions, in order. */
  readonly kinds: readonly Kind[]
  /** Absent if checking or running the transactions failed. */
  readonly executed?: {
    readonly receipts: readonly Uint8Array[]
    readonly receiptsRoot: string
    readonly records: Records
    readonly stateRoot: string
    readonly keys: ReadonlyMap<string, AccountKeys>
  }
  /** Why `executed` is absent. Null if it is there. */
  readonly fault: string | null
}

/** The reference's verdict on a block. A null `reason` accepts it. What the reference did not compute before it refused is absent. */
export interface Verdict {
  readonly reason: string | null
  readonly id?: string
  readonly header?: Header
  readonly expected?: Expected
  readonly computed?: Computed
}

/** What the maker of a block may choose. */
export interface Proposal {
  readonly timeMs: number
  readonly miner: string
  readonly extra?: string
  readonly version?: number
}

interface Entry {
  readonly id: string
  readonly header: Header
  readonly parent: Entry | undefined
  readonly work: bigint
  readonly records: Records
  readonly keys: ReadonlyMap<string, AccountKeys>
  readonly receipts: readonly Uint8Array[]
  /** What its children's headers must have, computed at first use. */
  children?: Expected
}

const blockId = (header: Uint8Array): string => hex(tagged('block-id', header))

function genesisHeader(genesis: ReferenceGenesis, rules: ReferenceRules, records: Records): Header {
  const extra = new Uint8Array(32)
  extra.set(utf8(genesis.message))
  return {
    version: 1,
    height: 0,
    parent: ZERO32,
    timeMs: genesis.timeMs,
    target: rules.block.powLimit,
    transactionsRoot: hex(listRoot('tx', [])),
    witnessRoot: hex(listRoot('witness', [])),
    receiptsRoot: hex(listRoot('receipt', [])),
    stateRoot: hex(stateRoot(records)),
    historyRoot: hex(historyRoot([])),
    miner: ZERO32,
    baseFee: genesis.baseFee,
    weightUsed: 0,
    extra: hex(extra),
    nonce: 0n,
  }
}

/**
 * A second implementation of docs/spec, slow on purpose. Except for the signature check of attestations it shares no code with the node. It
 * keeps every accepted block with a copy of its whole state, and computes target, anchor and history root of each block from genesis on.
 */
export class ReferenceChain {
  readonly genesisId: string
  /** Rules of the first step. */
  readonly rules: ReferenceRules
  readonly #steps: readonly ReferenceStep[]
  readonly #pow: ReferencePow
  readonly #entries = new Map<string, Entry>()
  #head: Entry

  constructor(genesis: ReferenceGenesis, steps: readonly ReferenceStep[], pow: ReferencePow = argon2Pow) {
    const { rules } = steps[0] as ReferenceStep
    this.rules = rules
    this.#steps = steps
    this.#pow = pow
    const records = genesisRecords(genesis, rules)
    const header = genesisHeader(genesis, rules, records)
    this.genesisId = blockId(HEADER.encode(header))
    const origin = { parent: undefined, work: 0n, keys: new Map(), receipts: [] }
    const entry: Entry = { ...origin, id: this.genesisId, header, records }
    this.#entries.set(this.genesisId, entry)
    this.#head = entry
  }

  /** The last step that has begun at this height. */
  #stepAt(height: number): ReferenceStep {
    return this.#steps.filter(({ fromHeight }) => fromHeight <= height).at(-1) as ReferenceStep
  }

  rulesAt(height: number): ReferenceRules {
    return this.#stepAt(height).rules
  }

  /** Id of the accepted block with the most total work. Of blocks with equal work, the one accepted earliest. */
  get headId(): string {
    return this.#head.id
  }

  /** A kept block: genesis, or one given to `accept` or `assume`. Throws a `Refusal` if the id is unknown. */
  block(id: string): Pick<Entry, 'header' | 'records' | 'receipts'> {
    return this.#entry(id)
  }

  #entry(id: string): Entry {
    const entry = this.#entries.get(id)
    demand(entry !== undefined, 'header: unknown parent')
    return entry
  }

  /** The blocks from genesis to `entry`. */
  #branch(entry: Entry): Entry[] {
    const branch: Entry[] = []
    for (let one: Entry | undefined = entry; one !== undefined; one = one.parent) branch.push(one)
    return branch.reverse()
  }

  /** Target, base fee and history root that a child of `parentId` must have. */
  expected(parentId: string): Expected {
    const entry = this.#entry(parentId)
    entry.children ??= this.#expected(entry)
    return entry.children
  }

  #expected(entry: Entry): Expected {
    const branch = this.#branch(entry)
    const headers = branch.map(({ header }) => header)
    const parent = headers[headers.length - 1] as Header
    const history = branch.map(({ id, header }) => ({
      id: unhex(id),
      height: header.height,
      timeMs: header.timeMs,
      target: header.target,
      work: workOf(header.target),
    }))
    return {
      target: targetAfter(headers, (height) => this.#stepAt(height).rules.block),
      baseFee: baseFeeAfter(parent.baseFee, BigInt(parent.weightUsed), this.#stepAt(headers.length).rules.block),
      historyRoot: hex(historyRoot(history)),
    }
  }

  /**
   * Keeps a block, even an invalid one, with its parent's state, so that children can be proposed on it. The kept block never becomes the
   * head.
   */
  assume(wire: Uint8Array): string {
    const { header: bytes } = BLOCK.decode(wire)
    const header = HEADER.decode(bytes)
    const parent = this.#entry(header.parent)
    const id = blockId(bytes)
    const { children: _, ...state } = parent
    this.#entries.set(id, { ...state, id, header, parent, work: parent.work + workOf(header.target) })
    return id
  }

  /** Judges a block in wire bytes at local time `nowMs`, and keeps it if it is valid. */
  accept(wire: Uint8Array, nowMs: number): Verdict {
    const verdict = this.judge(wire, nowMs)
    const { id, header, computed } = verdict
    if (verdict.reason !== null || id === undefined || header === undefined || computed?.executed === undefined)
      return verdict
    if (this.#entries.has(id)) return verdict
    const { records, keys, receipts } = computed.executed
    const parent = this.#entry(header.parent)
    const work = parent.work + workOf(header.target)
    const entry: Entry = { id, header, parent, work, records, keys, receipts }
    this.#entries.set(id, entry)
    if (work > this.#head.work) this.#head = entry
    return verdict
  }

  /** Judges a block without keeping it. */
  judge(wire: Uint8Array, nowMs: number): Verdict {
    const verdict: { -readonly [K in keyof Verdict]: Verdict[K] } = { reason: null }
    try {
      const block = BLOCK.decode(wire)
      const header = HEADER.decode(block.header)
      verdict.id = blockId(block.header)
      verdict.header = header
      const parent = this.#entry(header.parent)
      verdict.expected = this.expected(parent.id)
      this.#checkHeader(block.header, header, parent.header, verdict.expected, nowMs)
      const transactions = block.transactions.map((one) => readTransaction(one, this.rulesAt(header.height).tx))
      verdict.computed = this.#compute(parent, header, transactions)
      this.#checkBody(header, verdict.computed)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      verdict.reason = error.reason
    }
    return verdict
  }

  /**
   * Wire bytes of a block on `parentId`, with nonce 0. Its roots are those after executing all transactions, even invalid ones. A root that
   * cannot be computed is zero.
   */
  propose(parentId: string, wires: readonly Uint8Array[], proposal: Proposal): Uint8Array {
    const parent = this.#entry(parentId)
    const { timeMs, miner, extra = ZERO32, version = 1 } = proposal
    const roots = { transactionsRoot: ZERO32, witnessRoot: ZERO32, receiptsRoot: ZERO32, stateRoot: ZERO32 }
    const height = parent.header.height + 1
    const chosen = { version, height, parent: parentId, timeMs, miner, extra, weightUsed: 0, nonce: 0n }
    const header: Header = { ...chosen, ...this.expected(parentId), ...roots }
    const computed = leniently(() => {
      const transactions = wires.map((one) => readTransaction(one, this.rulesAt(height).tx))
      return this.#compute(parent, header, transactions, true)
    })
    if (computed !== undefined) {
      const { transactionsRoot, witnessRoot, weight, executed } = computed
      Object.assign(header, { transactionsRoot, witnessRoot, weightUsed: weight })
      if (executed !== undefined)
        Object.assign(header, { receiptsRoot: executed.receiptsRoot, stateRoot: executed.stateRoot })
    }
    return BLOCK.encode({ header: HEADER.encode(header), transactions: [...wires] })
  }

  /** Executes the transactions on the parent. `anyway` skips the checks that precede execution, and turns every error into `fault`. */
  #compute(parent: Entry, header: Header, transactions: readonly ReferenceTransaction[], anyway = false): Computed {
    const body = {
      transactionsRoot: hex(
        listRoot(
          'tx',
          transactions.map(({ txid }) => txid),
        ),
      ),
      witnessRoot: hex(
        listRoot(
          'witness',
          transactions.map(({ wtxid }) => wtxid),
        ),
      ),
      weight: transactions.reduce((sum, { weight }) => sum + weight, 0),
      kinds: transactions.map(({ payload }) => payload.kind),
    }
    try {
      const keys = new Map(parent.keys)
      if (!anyway) this.#checkTransactions(transactions, keys, this.rulesAt(header.height))
      const records = new Map(parent.records)
      const { fromHeight, rules } = this.#stepAt(header.height)
      const old = header.height === fromHeight ? this.rulesAt(fromHeight - 1) : undefined
      const receipts = applyBlock(records, header, transactions, { rules, old, genesisId: this.genesisId })
      const roots = { receiptsRoot: hex(listRoot('receipt', receipts)), stateRoot: hex(stateRoot(records)) }
      return { ...body, executed: { receipts, records, keys, ...roots }, fault: null }
    } catch (error) {
      if (!(error instanceof Refusal) && !anyway) throw error
      return { ...body, fault: String(error) }
    }
  }

  /** Header checks of blocks.md, section 1, in the order given there. */
  #checkHeader(bytes: Uint8Array, header: Header, parent: Header, expected: Expected, nowMs: number): void {
    const { block } = this.rules
    demand(header.version % 65_536 === 1, 'header: version')
    demand(header.height === parent.height + 1, 'header: height')
    demand(header.target === expected.target, 'header: target')
    demand(header.timeMs > parent.timeMs, 'header: time')
    demand(header.baseFee === expected.baseFee, 'header: base fee')
    demand(header.historyRoot === expected.historyRoot, 'header: history root')
    demand(header.timeMs <= nowMs + block.futureMsMax, 'header: future')
    demand(meetsTarget(bytes, header.target, this.#pow, block.pow), 'header: proof of work')
  }

  /** Checks of a body that need no state but the keys of accounts. Adds new keys to `keys`. */
  #checkTransactions(
    transactions: readonly ReferenceTransaction[],
    keys: Map<string, AccountKeys>,
    { block, tx }: ReferenceRules,
  ): void {
    const sum = (of: (one: ReferenceTransaction) => number): number =>
      transactions.reduce((total, one) => total + of(one), 0)
    demand(sum(({ wire }) => wire.length + 4) <= block.bytesMax, 'body: too long')
    demand(new Set(transactions.map(({ txid }) => hex(txid))).size === transactions.length, 'body: a txid twice')
    for (const transaction of transactions) {
      checkForm(transaction, tx)
      checkKeys(transaction, keys)
    }
    demand(sum(({ weight }) => weight) <= block.weightMax, 'body: too heavy')
    demand(sum(({ writes }) => writes) <= block.writesMax, 'body: too many writes')
  }

  /** Compares body and results with the header. */
  #checkBody(header: Header, computed: Computed): void {
    demand(computed.transactionsRoot === header.transactionsRoot, 'body: transactions root')
    demand(computed.witnessRoot === header.witnessRoot, 'body: witness root')
    demand(computed.weight === header.weightUsed, 'body: weight')
    const { executed, fault } = computed
    demand(executed !== undefined, fault ?? 'body')
    demand(executed.receiptsRoot === header.receiptsRoot, 'block: receipts root')
    demand(executed.stateRoot === header.stateRoot, 'block: state root')
  }
}
