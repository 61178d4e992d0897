import { beforeAll, describe, expect, it } from 'vitest'
import { changeHeld } from '../../../../consensus/chain/held-bodies.ts'
import { MemoryKeyValueStore } from '../../../../consensus/chain/key-value.ts'
import { KEYS } from '../../../../consensus/chain/layout.ts'
import type { BlockId } from '../../../../consensus/primitives/ids.ts'
import type { ServiceContext } from '../../../../marketplace/services/context.ts'
import { checkRequest, type ServiceDefinition } from '../../../../marketplace/services/service.ts'
import { SERVICE_TABLE } from '../../../../marketplace/services/table.ts'
import { seeded } from '../../../sim/miners.ts'
import { blocksFrom } from '../../../support/branches.ts'
import { TestChain } from '../../../support/chain.ts'
import { CHAIN_SERVICES } from '../../../support/listed-services.ts'
import { RandomChain, restlessRuleBook } from '../../../support/random-chain.ts'
import { serviceContext } from '../../../support/service-chain.ts'
import { resultOf } from '../../../support/service-results.ts'
import { connect, joiningNode, servingNode, takeSnapshot } from '../../../support/snapshot-nodes.ts'

const RULES = restlessRuleBook()
const BEFORE = 12
const AFTER = 8
const PAST = { code: 'storage/past-unknown', detail: { from: BEFORE + 1 } }

interface Stats {
  readonly tx: { readonly total: number | null; readonly last24h: number | null }
  readonly unknown: readonly string[]
}

const named = (id: string): ServiceDefinition => SERVICE_TABLE.find(({ serviceId }) => serviceId === id)!
const refusedBy = (id: string, request: string, context: ServiceContext): unknown => {
  const checked = checkRequest(named(id), request, context)
  return checked.ok ? null : checked.fault
}
const unready = (context: ServiceContext): readonly string[] =>
  CHAIN_SERVICES.filter((one) => !one.ready(context).available).map(({ serviceId }) => serviceId)

const OVER_BLOCKS = ['node-explorer-summary', 'node-gas-tracker', 'node-whale-watch']
const OVER_A_DAY = ['node-market-report', 'node-market-summary', 'node-pool-analytics', 'node-price-feed']

describe('services of a node that began from a snapshot', () => {
  let whole: ServiceContext
  let young: ServiceContext
  /** The id of one transaction for each block that has any, by height. */
  let txIds: ReadonlyMap<number, string>
  let atOnce: readonly string[]
  beforeAll(async () => {
    const store = new MemoryKeyValueStore()
    const test = await TestChain.open(RULES, store)
    const random = new RandomChain(test, seeded(11))
    const server = servingNode('server', test, store, { every: BEFORE })
    await random.grow(BEFORE)
    const node = await joiningNode(RULES, new MemoryKeyValueStore())
    await connect(node, server)
    await takeSnapshot(node, test, server.snapshots.refs()[0] as never)
    atOnce = unready(serviceContext(node.test))
    const next = await random.grow(AFTER)
    node.test.nowMs = test.nowMs
    for (const block of next) await node.test.import(block)
    const blocks = blocksFrom(test, 1)
    txIds = new Map(blocks.flatMap(({ header, transactions: [tx] }) => (tx ? [[header.height, tx.txId]] : [])))
    ;[whole, young] = [serviceContext(test), serviceContext(node.test)]
  })

  it('are not sold while they would have nothing to tell of, and the others are', () => {
    expect(atOnce).toEqual(expect.arrayContaining([...OVER_BLOCKS, ...OVER_A_DAY, 'node-price-history']))
    expect(atOnce).toHaveLength(OVER_BLOCKS.length + OVER_A_DAY.length + 1)
    expect(unready(young).toSorted()).toEqual([...OVER_A_DAY, 'node-price-history'].toSorted())
    expect(unready(whole)).toEqual([])
  })

  it('refuse before payment what may lie before it, never say that it is not there', async () => {
    const [old] = txIds.values()
    const recent = txIds.get([...txIds.keys()].find((height) => height > BEFORE) as number) as string
    for (const id of ['node-tx-lookup', 'node-receipt-verify']) {
      expect(refusedBy(id, old as string, young)).toEqual(PAST)
      expect(refusedBy(id, 'ab'.repeat(32), young)).toEqual(PAST)
      expect(refusedBy(id, 'ab'.repeat(32), whole)).toBeNull()
      expect(await resultOf(id, recent, young)).toMatchObject({ status: 'mined' })
    }
    expect(refusedBy('node-block-inspect', String(BEFORE), young)).toEqual(PAST)
    expect(refusedBy('node-block-inspect', '0', young)).toBeNull()
    expect(await resultOf('node-block-inspect', String(BEFORE + 1), young)).toMatchObject({
      block: { height: BEFORE + 1 },
    })
  })

  it('name what they do not know, and where their windows begin', async () => {
    expect(await resultOf<Stats>('node-network-stats', '', young)).toMatchObject({
      tx: { total: null, last24h: null },
      unknown: ['tx.total', 'tx.last24h'],
    })
    expect((await resultOf<Stats>('node-network-stats', '', whole)).unknown).toEqual([])
    for (const id of OVER_BLOCKS) {
      const window = { fromHeight: BEFORE + 1, toHeight: BEFORE + AFTER }
      expect(await resultOf(id, '', young)).toMatchObject({ window })
    }
    const { unknown } = await resultOf<Stats>('node-agent-roster', '', young)
    expect(unknown).toContain(
      `successRatePct, refunds and distinctPayers of calls that ended before height ${BEFORE + 1}`,
    )
  })

  it('refuse what was pruned', async () => {
    const { database } = young.chain
    const height = [...txIds.keys()].find((at) => at > BEFORE) as number
    const [txId, id] = [txIds.get(height) as string, database.idAt(height) as BlockId]
    const held = { bodiesFrom: height + 1, witnessesFrom: height + 1 }
    await changeHeld(database, () => ({
      held,
      writes: [KEYS.bodies(id), KEYS.witnesses(id), KEYS.receipts(id)].map((key) => ({ key })),
    }))
    const pruned = { code: 'storage/pruned', detail: { height, ...held } }
    for (const service of ['node-tx-lookup', 'node-receipt-verify'])
      expect(refusedBy(service, txId, young)).toEqual(pruned)
    expect(refusedBy('node-block-inspect', id, young)).toEqual(pruned)
  })
})
