import { describe, expect, it } from 'vitest'
import { bridgeFacts, withdrawalFacts } from '../../../../consensus/ledger/bridge-facts.ts'
import type { Address, TxId } from '../../../../consensus/primitives/ids.ts'
import { walletKey } from '../../../../src/crypto/wallet-key.ts'
import {
  AVALANCHE,
  BASE,
  BITCOIN,
  BridgeLedger,
  EXTERNAL,
  HELD,
  keyOf,
  members,
  rotationTo,
  TEST_BRIDGE,
} from '../../../support/bridge.ts'
import { filled, units } from '../../../support/unsigned.ts'

const rules = { bridge: TEST_BRIDGE }
const facts = (ledger: BridgeLedger) => bridgeFacts(ledger.state, rules, ledger.height)

describe('the facts of the bridge', () => {
  it('name the committee, how many it takes, and each member by its wallet', () => {
    const { committee } = facts(new BridgeLedger({ threshold: 3, members: members(4) }))
    expect(committee).toMatchObject({ epoch: 0, threshold: 3, haltThreshold: 2, rotation: null })
    const wallets = members(4).map(({ seed }) => walletKey(seed, 2).address)
    expect(committee?.keys.map(({ member }) => member)).toEqual(wallets)
    expect(committee?.keys.map(({ key }) => key)).toEqual(members(4).map(keyOf))
    expect(facts(new BridgeLedger({ committee: null })).committee).toBeNull()
  })

  it('show a rotation that waits', () => {
    const ledger = new BridgeLedger()
    const vaults = [{ network: BASE, address: EXTERNAL.evm }]
    ledger.rotate(rotationTo(members(1, 1, 0x40), 1, { vaults, resume: [3] }))
    const [member] = members(1, 1, 0x40)
    expect(facts(ledger).committee?.rotation).toEqual({
      ...{ effectiveAt: 6, threshold: 1, vaults, resume: [3] },
      keys: [{ key: member && keyOf(member), member: member && walletKey(member.seed, 1).address }],
    })
    ledger.advanceTo(7)
    expect(facts(ledger).committee).toMatchObject({ epoch: 1, rotation: null })
  })

  it('tell every network, opened or not', () => {
    const ledger = new BridgeLedger()
    ledger.halt(BITCOIN)
    const { networks } = facts(ledger)
    expect(networks.map(({ number }) => number)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(networks[AVALANCHE]).toEqual({
      ...{ number: AVALANCHE, rules: TEST_BRIDGE.networks[AVALANCHE], status: 'not configured', vault: null },
      ...{ halted: false, deposited: 0n, released: 0n, fees: 0n, pending: 0n, float: 0n, mintedToday: 0n },
      ...{ deposits: 0, withdrawals: 0 },
    })
    expect(networks[BITCOIN]).toMatchObject({ status: 'halted', halted: true, vault: EXTERNAL.bitcoin })
    expect(networks[BASE]).toMatchObject({ status: 'open', deposited: HELD, float: HELD })
  })

  it('call every network not configured without a committee', () => {
    const { networks } = facts(new BridgeLedger({ committee: null }))
    expect(new Set(networks.map(({ status }) => status))).toEqual(new Set(['not configured']))
    expect(networks[BASE]?.vault).toBe(EXTERNAL.evm)
  })

  it('count what waits, what was paid, and what was minted on the day of the block to come', () => {
    const ledger = new BridgeLedger()
    ledger.deposit({ amount: units(50_000) })
    const { txId } = ledger.withdraw({ amount: units(10_000) }).tx
    ledger.withdraw({ amount: units(20_000) })
    ledger.sign(txId)
    ledger.release(txId)
    const base = facts(ledger).networks[BASE]
    expect(base).toMatchObject({ pending: 20_000n, released: 9_990n, fees: 10n, deposits: 1, withdrawals: 2 })
    expect([base?.float, base?.mintedToday]).toEqual([HELD + 50_000n - 30_000n, 50_000n])
    ledger.advanceTo(20)
    expect(facts(ledger).networks[BASE]?.mintedToday).toBe(0n)
  })
})

describe('the facts of a withdrawal', () => {
  it('are what was asked for, and by what it was paid', () => {
    const ledger = new BridgeLedger()
    const { txId } = ledger.withdraw().tx
    const found = () => withdrawalFacts(ledger.state, rules, txId)
    expect(found()).toEqual({
      ...{ id: txId, network: BASE, rules: TEST_BRIDGE.networks[BASE], sender: filled<Address>(1), amount: 10_000n },
      ...{ fee: 10n, receives: 9_990n, recipient: EXTERNAL.evm, state: 'pending', createdAt: 1, externalTxId: null },
    })
    ledger.sign(txId)
    expect(found()?.state).toBe('signing')
    ledger.release(txId)
    expect(found()).toMatchObject({ state: 'released', externalTxId: `0x${'ee'.repeat(32)}` })
    expect(withdrawalFacts(ledger.state, rules, filled<TxId>(9))).toBeUndefined()
  })
})
