import { describe, expect, it } from 'vitest'
import { NETWORKS } from '../../../../config/networks/table.ts'
import type { Rules } from '../../../../consensus/chain/params.ts'
import { createRuleBook } from '../../../../consensus/chain/rule-book.ts'
import { bridgeModule } from '../../../../consensus/ledger/bridge.ts'
import { BRIDGE_NETWORKS, COMMITTEE, floatOf } from '../../../../consensus/ledger/bridge-records.ts'
import type { KindHandler } from '../../../../consensus/ledger/module.ts'
import type { GenesisToken } from '../../../../consensus/ledger/rules.ts'
import { mintAsset, openSupply, supplyOf } from '../../../../consensus/ledger/supply.ts'
import type { Address, TokenSymbol } from '../../../../consensus/primitives/ids.ts'
import { Overlay } from '../../../../consensus/state/overlay.ts'
import { MemoryState } from '../../../../consensus/state/view.ts'
import type { TxKind } from '../../../../consensus/tx/kinds.ts'
import { PROTOCOL } from '../../../../src/protocol.ts'
import {
  AVALANCHE,
  BASE,
  BITCOIN,
  BridgeLedger,
  bridgeLedgers,
  bridgeParams,
  COIN,
  DOLLAR,
  EXTERNAL,
  HELD,
  keyOf,
  members,
  rotationTo,
} from '../../../support/bridge.ts'
import { filled, units } from '../../../support/unsigned.ts'

const { bridge } = bridgeLedgers()

function genesisWith(change: Partial<typeof bridge>): () => unknown {
  const params = bridgeParams({ ledgers: { bridge: { ...bridge, ...change } } })
  return () => createRuleBook(params, PROTOCOL)
}

describe('the bridge in genesis', () => {
  it('begins with its committee, vaults, and what they hold', () => {
    const ledger = new BridgeLedger()
    expect(ledger.committee).toEqual({ epoch: 0, threshold: 2, keys: members(3).map(keyOf), rotation: [] })
    expect(ledger.network(BASE)).toEqual({
      ...{ version: 1, asset: DOLLAR, vault: EXTERNAL.evm, halted: false, deposited: HELD, released: 0n, fees: 0n },
      ...{ pending: 0n, mintDay: 0, mintedToday: 0n, deposits: 0, withdrawals: 0 },
    })
    expect(ledger.network(BITCOIN)).toMatchObject({ asset: COIN, vault: EXTERNAL.bitcoin, deposited: 0n })
  })

  it.each(Object.values(NETWORKS))('of $name wraps exactly what vaults hold', (params) => {
    const state = new MemoryState()
    state.apply(createRuleBook(params, PROTOCOL).genesis.changes)
    const held = params.genesis.ledgers.bridge.vaults.reduce((sum, { network }) => {
      const record = state.get(BRIDGE_NETWORKS, network)
      return record?.asset === DOLLAR ? sum + floatOf(record) : sum
    }, 0n)
    expect(supplyOf(state, DOLLAR)).toBe(held)
    expect(state.get(COMMITTEE, undefined) !== undefined).toBe(params.genesis.ledgers.bridge.committee !== null)
  })

  it('is refused with a gap, either way', () => {
    expect(genesisWith({ deposited: [{ network: BASE, amount: HELD - 1n }] })).toThrow('vaults hold')
    expect(genesisWith({ deposited: [{ network: BASE, amount: HELD + 1n }] })).toThrow('vaults hold')
    expect(genesisWith({ deposited: [{ network: BITCOIN, amount: HELD }] })).toThrow('vaults hold')
    expect(genesisWith({})).not.toThrow()
  })

  it('is refused with what is wrapped for a network that only a later step could open', () => {
    const { tokens, balances } = bridgeLedgers()
    const wrapped = { ...(tokens[0] as GenesisToken), symbol: 'XDOGE' as TokenSymbol, kind: 'bridged' } as const
    const withWrapped = (amount: bigint) => {
      const gift = { symbol: wrapped.symbol, address: filled<Address>(1), amount }
      const ledgers = { tokens: [...tokens, wrapped], balances: [...balances, gift] }
      return () => createRuleBook(bridgeParams({ ledgers }), PROTOCOL)
    }
    expect(withWrapped(0n)).not.toThrow()
    expect(withWrapped(1n)).toThrow('vaults hold')
  })

  it('may spread one token over networks', () => {
    const deposited = [
      { network: BASE, amount: HELD - 100n },
      { network: 0, amount: 100n },
    ]
    expect(genesisWith({ deposited })).not.toThrow()
  })

  it('is refused with money outside a vault, with vaults that are none, with a committee that cannot sign', () => {
    expect(genesisWith({ vaults: [] })).toThrow('lies in a vault')
    expect(genesisWith({ vaults: [{ network: BASE, address: EXTERNAL.bitcoin }] })).toThrow('no address of its network')
    const { keys } = bridge.committee as NonNullable<typeof bridge.committee>
    expect(genesisWith({ committee: { threshold: 4, keys } })).toThrow('cannot be satisfied')
    expect(genesisWith({ committee: { threshold: 1, keys: [...keys, ...keys] } })).toThrow('stands twice')
  })
})

describe('the kinds of the bridge', () => {
  it('spend no native coins beside the fee', () => {
    const ledger = new BridgeLedger()
    const { txId } = ledger.withdraw().tx
    ledger.sign(txId)
    ledger.release(txId)
    const sent = [
      ledger.deposit(),
      ledger.withdraw(),
      ledger.sign(txId),
      ledger.release(txId),
      ledger.cancel(txId),
      ledger.halt(BASE),
      ledger.rotate(rotationTo(members(1), 1)),
    ]
    const { handlers } = bridgeModule
    expect(sent.map(({ tx }) => tx.body.kind)).toEqual(expect.arrayContaining(Object.keys(handlers)))
    for (const { tx } of sent) {
      const handler = handlers[tx.body.kind as keyof typeof handlers] as KindHandler<TxKind>
      expect(handler.spends(tx.body, rules)).toBe(0n)
    }
  })
})

const rules = bridgeParams().steps[0]?.rules as Rules

describe('custody', () => {
  function judged(change: (overlay: Overlay) => void): string | null {
    const overlay = new Overlay(new BridgeLedger().state)
    change(overlay)
    return bridgeModule.invariant(overlay.changesSince(0), rules)
  }

  it('breaks where wrapped coins appear that no vault got', () => {
    expect(judged((overlay) => mintAsset(overlay, DOLLAR, units(1)))).toBe('custody')
  })

  it('breaks where a vault got coins that no account here got', () => {
    const deposited = (overlay: Overlay, network: number) => {
      const record = overlay.get(BRIDGE_NETWORKS, network)
      if (record === undefined) throw new Error('no record')
      overlay.put(BRIDGE_NETWORKS, network, { ...record, deposited: units(record.deposited + 1n) })
    }
    expect(judged((overlay) => deposited(overlay, BASE))).toBe('custody')
    expect(
      judged((overlay) => {
        deposited(overlay, BITCOIN)
        mintAsset(overlay, DOLLAR, units(1))
      }),
    ).toBe('custody')
    expect(
      judged((overlay) => {
        deposited(overlay, 0)
        mintAsset(overlay, DOLLAR, units(1))
      }),
    ).toBeNull()
  })

  it('counts networks and tokens that begin with the change', () => {
    const opened = (asset: typeof DOLLAR, deposited: bigint) =>
      judged((overlay) => {
        const record = overlay.get(BRIDGE_NETWORKS, BASE)
        if (record === undefined) throw new Error('no record')
        overlay.put(BRIDGE_NETWORKS, AVALANCHE, { ...record, asset, deposited: units(deposited) })
      })
    expect(opened(DOLLAR, 0n)).toBeNull()
    expect(opened(DOLLAR, 1n)).toBe('custody')
    expect(judged((overlay) => openSupply(overlay, filled(0x41), units(5)))).toBeNull()
  })

  it('is no matter of tokens that do not cross', () => {
    const stable = rules.market.pricedPool.dollar as TokenSymbol
    expect(stable).toBe('FUSD')
    expect(judged((overlay) => mintAsset(overlay, `46555344${'0'.repeat(56)}` as typeof DOLLAR, units(1)))).toBeNull()
  })
})
