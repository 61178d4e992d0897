import { describe, expect, it } from 'vitest'
import { LAUNCH_RULES } from '../../config/networks/rules.ts'
import { NETWORKS, type NetworkName } from '../../config/networks/table.ts'
import { baseFeeAfter } from '../../consensus/block/base-fee.ts'
import { bodySize, decodeBlock, encodeBlock, transactionsRoot, witnessRoot } from '../../consensus/block/block.ts'
import {
  type Anchor,
  anchorAfter,
  anchorAtStep,
  targetAfter,
  unclampedTarget,
} from '../../consensus/block/difficulty.ts'
import { decodeHeader, HEADER_BYTES, type Header, type SealedHeader, sealHeader } from '../../consensus/block/header.ts'
import {
  appendLeaf,
  type HistoryNodeAt,
  type HistoryPeak,
  historyLeaf,
  historyProof,
  historyRoot,
  verifyHistoryProof,
} from '../../consensus/block/history.ts'
import {
  meetsTarget,
  powHash,
  powInput,
  referencePowHasher,
  targetOfWork,
  workOfTarget,
} from '../../consensus/block/pow.ts'
import { createRuleBook } from '../../consensus/chain/rule-book.ts'
import { decodeReceipt, encodeReceipt, type Receipt } from '../../consensus/ledger/receipt.ts'
import { fromHex, toHex } from '../../consensus/primitives/bytes.ts'
import { decode, encode } from '../../consensus/primitives/codec.ts'
import type { Hash } from '../../consensus/primitives/ids.ts'
import { proveState, type StateProof, verifyStateProof } from '../../consensus/state/proof.ts'
import type { AnyStateTable, StateKey } from '../../consensus/state/table.ts'
import { pathOf, updateTreeNow, valueHash } from '../../consensus/state/tree.ts'
import { nativePowHasher } from '../../src/crypto/native-pow.ts'
import { PROTOCOL } from '../../src/protocol.ts'
import type { StepCase } from './generate/block-difficulty.ts'
import type { HistoryCase } from './generate/block-history.ts'
import type { TreeCase } from './generate/state-tree.ts'
import { fullHex, revived, vectors } from './read.ts'

const RULES = LAUNCH_RULES.block

describe('headers', () => {
  it.each(vectors('block-header').cases)('$name', (vector) => {
    const { extra, ...fields } = revived(vector.header) as Header & { extra: unknown }
    const header = { ...fields, extra: fromHex(extra as unknown as string) } as Header
    const sealed = sealHeader(header)
    expect(toHex(sealed.bytes)).toBe(vector.bytes)
    expect(sealed.bytes.length).toBe(HEADER_BYTES)
    expect(sealed.id).toBe(vector.id)
    expect(decodeHeader(sealed.bytes)).toEqual({ ok: true, value: sealed })
    expect(toHex(powInput(sealed.bytes))).toBe(vector.powInput)
    for (const hasher of [nativePowHasher, referencePowHasher]) {
      const hash = powHash(hasher, sealed.bytes, RULES.pow)
      expect(toHex(hash)).toBe(vector.powHash)
      expect(meetsTarget(hash, header.target)).toBe(vector.meets)
    }
  })
})

describe('blocks', () => {
  it.each(vectors('block-encoding').cases)('of $name', (vector) => {
    const bytes = fullHex(vector.bytes)
    const decoded = decodeBlock(bytes)
    if (!decoded.ok) throw new Error(decoded.fault.code)
    const { transactions, id } = decoded.value
    expect(id).toBe(vector.id)
    expect(transactions.map(({ txId }) => txId)).toEqual(vector.txIds)
    expect(transactions.map(({ wtxId }) => wtxId)).toEqual(vector.wtxIds)
    expect(transactionsRoot(transactions)).toBe(vector.transactionsRoot)
    expect(witnessRoot(transactions)).toBe(vector.witnessRoot)
    expect(bodySize(transactions)).toBe(vector.bodySize)
    expect(toHex(encodeBlock(decoded.value))).toBe(toHex(bytes))
  })
})

describe('receipts', () => {
  it.each(vectors('block-receipts').cases)('$name', (vector) => {
    const receipt = { ...(revived(vector.fields) as object), type: vector.type } as Receipt
    expect(toHex(encodeReceipt(receipt))).toBe(vector.bytes)
    expect(decodeReceipt(fromHex(vector.bytes))).toEqual(receipt)
  })
})

describe('work and targets', () => {
  it.each(vectors('block-work').cases)('target $target', ({ hashes, target, work }) => {
    expect(workOfTarget(BigInt(target))).toBe(BigInt(work))
    if (hashes !== null) expect(targetOfWork(BigInt(hashes))).toBe(BigInt(target))
  })
})

describe('base fees', () => {
  it.each(vectors('block-base-fee').cases)('$baseFee after $weightUsed', ({ baseFee, weightUsed, child }) => {
    expect(baseFeeAfter({ baseFee: BigInt(baseFee), weightUsed }, RULES)).toBe(BigInt(child))
  })
})

describe('targets by ASERT', () => {
  const devnet = NETWORKS.devnet.steps[0]?.rules.block as typeof RULES

  it.each(vectors('block-asert').cases)('$name', (vector) => {
    const anchor = revived(vector.anchor) as Anchor
    expect(unclampedTarget(anchor, vector.parent, RULES)).toBe(BigInt(vector.unclamped))
    expect(targetAfter(anchor, vector.parent, RULES)).toBe(BigInt(vector.targetMainnet))
    expect(targetAfter(anchor, vector.parent, devnet)).toBe(BigInt(vector.targetDevnet))
  })

  it.each(vectors('block-anchor').cases)('$name', (vector) => {
    const { anchorResetGapMs, parent } = vector
    const [powLimit, initialTarget] = [BigInt(vector.powLimit), BigInt(vector.initialTarget)]
    const rules = { ...devnet, anchorResetGapMs, powLimit, initialTarget }
    const anchor = revived(vector.anchor) as Anchor | null
    const block = revived(vector.block) as Header
    expect(targetAfter(anchor, parent, rules)).toBe(block.target)
    expect(anchorAfter(anchor, parent, block, rules)).toEqual(revived(vector.next))
  })
})

describe('the first block of a rule step', () => {
  const paced = (pace: StepCase['rules']) => ({ ...RULES, ...pace, powLimit: BigInt(pace.powLimit) })

  it.each(vectors('block-step').cases)('with $name', (vector) => {
    const [ended, rules] = [paced(vector.ended), paced(vector.rules)]
    const found = anchorAtStep(revived(vector.anchor) as Anchor, vector.parent, { ended, rules })
    expect(found).toEqual(revived(vector.found))
    expect(targetAfter(found, vector.parent, rules)).toBe(BigInt(vector.target))
  })
})

describe('history', () => {
  const set = vectors('block-history')
  const headers = set.headers.map((bytes) => {
    const decoded = decodeHeader(fromHex(bytes))
    if (!decoded.ok) throw new Error(decoded.fault.code)
    return decoded.value
  })

  it.each(set.cases)('root and proofs of $count blocks', ({ count, root, proofs }: HistoryCase) => {
    const nodes = new Map<string, HistoryNodeAt>()
    let peaks: readonly HistoryPeak[] = []
    headers.slice(0, count).forEach((header, i) => {
      const appended = appendLeaf(peaks, historyLeaf(header), i)
      peaks = appended.peaks
      for (const node of appended.nodes) nodes.set(`${node.level}/${node.index}`, node)
    })
    expect(historyRoot(peaks, count)).toBe(root)
    for (const vector of proofs) {
      const siblings = vector.siblings.map(({ hash, work }) => ({ hash: fromHex(hash), work: BigInt(work) }))
      const built = historyProof(vector.index, count, (level, index) => nodes.get(`${level}/${index}`) as HistoryNodeAt)
      expect(built.siblings.map(({ hash, work }) => ({ hash: toHex(hash), work: work.toString() }))).toEqual(
        vector.siblings,
      )
      const block = headers[vector.index] as SealedHeader
      expect(verifyHistoryProof(root as Hash, block, { index: vector.index, count, siblings })).toBe(true)
    }
  })
})

describe('state records', () => {
  const tables = new Map(PROTOCOL.modules.flatMap(({ tables }) => tables).map((table) => [table.name, table]))
  const { cases } = vectors('state-records')

  it.each(cases)('$name', (vector) => {
    const table = tables.get(vector.table) as AnyStateTable
    const record = revived(vector.record)
    expect(table.key((vector.id ?? undefined) as never)).toBe(vector.key)
    const bytes = fullHex(vector.bytes)
    expect(toHex(encode(table.codec, record))).toBe(toHex(bytes))
    expect(decode(table.codec, bytes)).toEqual({ ok: true, value: record })
    expect(table.rooted).toBe(vector.rooted)
    expect(toHex(pathOf(vector.key as StateKey))).toBe(vector.path)
    expect(toHex(valueHash(bytes))).toBe(vector.valueHash)
    const holdings = table.holdings?.(record, vector.key as StateKey) ?? []
    const units = holdings.filter(({ amount }) => amount !== 0n).map((held) => ({ ...held, amount: `${held.amount}` }))
    expect(units).toEqual(vector.holdings)
  })

  it('cover every table', () => {
    expect(new Set(cases.map(({ table }) => table))).toEqual(new Set(tables.keys()))
  })
})

describe('state trees', () => {
  const rooted = { rooted: true } as AnyStateTable

  it.each(vectors('state-tree').cases)('$name', ({ records, root, proofs, refused }: TreeCase) => {
    const changes = records.map(({ key, value }) => ({
      ...{ table: rooted, key: key as StateKey, before: undefined, after: fromHex(value) },
    }))
    const tree = updateTreeNow({ page: () => undefined }, changes)
    expect(tree.root).toBe(root)
    const shown = ({ siblings, leaf }: Pick<TreeCase['proofs'][number], 'siblings' | 'leaf'>): StateProof => ({
      siblings: siblings.map(fromHex),
      leaf: leaf && { path: fromHex(leaf.path), value: fromHex(leaf.value) },
    })
    for (const { key, value, ...spelled } of proofs) {
      const proof = shown(spelled)
      const held = value === null ? undefined : fromHex(value)
      const reader = { page: (id: string) => tree.pages.get(id as never) ?? undefined }
      expect(proveState(reader, key as StateKey)).toEqual(proof)
      expect(verifyStateProof(root as Hash, key as StateKey, held, proof)).toBe(true)
    }
    const fooled = refused.filter((one) => verifyStateProof(root as Hash, one.key as StateKey, undefined, shown(one)))
    expect(fooled.map(({ key, why }) => `${key}: ${why}`)).toEqual([])
  })

  it('come with forged absences from the top and from nodes below it, and with fields of other lengths', () => {
    const whys = vectors('state-tree').cases.flatMap(({ refused }) => refused.map(({ why }) => why))
    const of = (pattern: RegExp) => whys.filter((why) => pattern.test(why)).length
    expect([of(/depth 0/), of(/depth [1-9]/), of(/bytes/)].map((count) => count > 10)).toEqual([true, true, true])
  })
})

describe('networks', () => {
  const { cases } = vectors('network-genesis')

  it.each(cases)('$name', (vector) => {
    const params = NETWORKS[vector.name as NetworkName]
    const { block } = createRuleBook(params, PROTOCOL).genesis
    expect(block.id).toBe(vector.genesisId)
    expect(toHex(block.bytes)).toBe(vector.genesisHeader)
    expect(block.header.stateRoot).toBe(vector.stateRoot)
    expect(block.transactions).toEqual([])
    expect(params.addressPrefix).toBe(vector.addressPrefix)
    expect(params.genesis.allocations.map(({ address, amount }) => ({ address, amount: amount.toString() }))).toEqual(
      vector.allocations,
    )
    expect(createRuleBook(params, PROTOCOL).fingerprint).toBe(vector.fingerprint)
  })

  it('are all there', () => {
    expect(cases.map(({ name }) => name)).toEqual(Object.keys(NETWORKS))
  })
})
