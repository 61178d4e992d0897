import { describe, expect, it } from 'vitest'
import type { Address } from '../../../../consensus/primitives/ids.ts'
import { AGENT_STATISTICS, PAYERS, SERVICE_STATISTICS } from '../../../../marketplace/ledger/statistics.ts'
import { TestLedger } from '../../../support/ledger.ts'
import { agentId, filled, SAMPLE, serviceId, units } from '../../../support/unsigned.ts'

const [OWNER, ALICE, PAYOUT, SETTLER, BOB] = [1, 2, 3, 4, 5].map((n) => filled<Address>(n)) as [
  ...[Address, Address, Address, Address, Address],
]
const AGENT = agentId('acme')
const [FIRST, SECOND] = [serviceId('summarise'), serviceId('translate')]

function market(): TestLedger {
  const ledger = new TestLedger()
  ledger.send(OWNER, 'agent_register', SAMPLE.agent_register())
  for (const service of [FIRST, SECOND]) {
    ledger.send(OWNER, 'service_publish', SAMPLE.service_publish({ serviceId: service }))
  }
  return ledger
}

function call(ledger: TestLedger, caller: Address, service = FIRST, outcome = 0, amount = 200_000): void {
  const payload = SAMPLE.agent_invoke({ serviceId: service, amount: units(amount) })
  const { txId } = ledger.send(caller, 'agent_invoke', payload).tx
  ledger.send(SETTLER, 'agent_receipt', SAMPLE.agent_receipt([{ txId, outcome }]))
}

const ofAgent = (ledger: TestLedger) => ledger.get(AGENT_STATISTICS, AGENT)
const ofService = (ledger: TestLedger, service = FIRST) =>
  ledger.get(SERVICE_STATISTICS, { agentId: AGENT, serviceId: service })

describe('proven calls', () => {
  it('count delivered calls with their whole amount', () => {
    const ledger = market()
    expect(ofAgent(ledger)).toBeUndefined()
    call(ledger, ALICE)
    call(ledger, ALICE, FIRST, 0, 300_000)
    expect(ofService(ledger)).toEqual({ calls: 2, volume: 500_000n, payers: 1 })
    expect(ofAgent(ledger)).toEqual({ calls: 2, volume: 500_000n, payers: 1 })
    expect(ofService(ledger, SECOND)).toBeUndefined()
  })

  it('count a caller once per service, in the service and in the agent', () => {
    const ledger = market()
    call(ledger, ALICE)
    call(ledger, BOB)
    call(ledger, ALICE, SECOND)
    call(ledger, ALICE, SECOND)
    expect(ofService(ledger)).toMatchObject({ calls: 2, payers: 2 })
    expect(ofService(ledger, SECOND)).toMatchObject({ calls: 2, payers: 1 })
    expect(ofAgent(ledger)).toMatchObject({ calls: 4, payers: 3 })
    expect(ledger.get(PAYERS, { agentId: AGENT, serviceId: FIRST, caller: BOB })).toBe(1)
    expect(ledger.get(PAYERS, { agentId: AGENT, serviceId: SECOND, caller: BOB })).toBeUndefined()
  })

  it('do not count what failed or was refunded', () => {
    const ledger = market()
    call(ledger, ALICE, FIRST, 1)
    ledger.send(ALICE, 'agent_invoke', SAMPLE.agent_invoke())
    ledger.advanceTo(ledger.height + 101)
    expect(ofAgent(ledger)).toBeUndefined()
    expect(ofService(ledger)).toBeUndefined()
  })

  it.each([
    ['the owner', OWNER],
    ['the payout', PAYOUT],
    ['a settler', SETTLER],
  ])('do not count calls by %s', (_, caller) => {
    const ledger = market()
    call(ledger, caller)
    expect(ofAgent(ledger)).toBeUndefined()
    expect(ledger.get(PAYERS, { agentId: AGENT, serviceId: FIRST, caller })).toBeUndefined()
  })

  it('go by who was an insider when the call was mined', () => {
    const ledger = market()
    const { txId } = ledger.send(BOB, 'agent_invoke', SAMPLE.agent_invoke()).tx
    ledger.send(OWNER, 'agent_update', SAMPLE.agent_update({ settlers: [SETTLER, BOB] }))
    ledger.send(SETTLER, 'agent_receipt', SAMPLE.agent_receipt([{ txId }]))
    expect(ofAgent(ledger)).toMatchObject({ calls: 1 })
  })
})
