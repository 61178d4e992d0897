import { describe, expect, it } from 'vitest'
import type { Address } from '../../../../consensus/primitives/ids.ts'
import { AGENTS, isInsider, priceInEpoch, SERVICES } from '../../../../marketplace/ledger/agents.ts'
import { TestLedger } from '../../../support/ledger.ts'
import { agentId, filled, SAMPLE, serviceId } from '../../../support/unsigned.ts'

const [OWNER, OTHER, PAYOUT, SETTLER] = [1, 2, 3, 4].map((n) => filled<Address>(n)) as [
  Address,
  Address,
  Address,
  Address,
]
const STRANGER = filled<Address>(0x55)
const NAME = { agentId: agentId('acme'), serviceId: serviceId('summarise') }

/** A ledger whose first block registered an agent. */
function registered(): TestLedger {
  const ledger = new TestLedger()
  ledger.send(OWNER, 'agent_register', SAMPLE.agent_register())
  return ledger
}

function published(): TestLedger {
  const ledger = registered()
  ledger.send(OWNER, 'service_publish', SAMPLE.service_publish())
  return ledger
}

describe('agent_register', () => {
  it('makes the sender the owner', () => {
    const { agentId: id, ...fields } = SAMPLE.agent_register()
    expect(registered().get(AGENTS, id)).toEqual({ version: 1, owner: OWNER, registeredAt: 1, ...fields })
  })

  it('fails where the id is taken, even for its owner', () => {
    const ledger = registered()
    for (const sender of [OWNER, OTHER]) {
      expect(ledger.send(sender, 'agent_register', SAMPLE.agent_register()).code).toBe('ledger/agent-exists')
    }
  })

  it('fails without a payout account, after the id was looked at', () => {
    const ledger = new TestLedger()
    const homeless = SAMPLE.agent_register({ payout: STRANGER })
    expect(ledger.send(OWNER, 'agent_register', homeless).code).toBe('ledger/payout-no-account')
    expect(ledger.get(AGENTS, agentId('acme'))).toBeUndefined()
    ledger.send(OWNER, 'agent_register', SAMPLE.agent_register())
    expect(ledger.send(OWNER, 'agent_register', homeless).code).toBe('ledger/agent-exists')
  })

  it('needs no account for its settlers', () => {
    const ledger = new TestLedger()
    const payload = SAMPLE.agent_register({ settlers: [STRANGER] })
    expect(ledger.send(OWNER, 'agent_register', payload).code).toBe('success')
  })
})

describe('agent_update', () => {
  it('replaces everything but the height of registration', () => {
    const ledger = registered()
    const { agentId: id, ...fields } = SAMPLE.agent_update({ payout: OTHER, settlers: [OWNER] })
    expect(ledger.send(OWNER, 'agent_update', { agentId: id, ...fields }).code).toBe('success')
    expect(ledger.get(AGENTS, id)).toEqual({ version: 1, registeredAt: 1, ...fields })
  })

  it('may hand the agent over, after which the old owner has no say', () => {
    const ledger = registered()
    ledger.send(OWNER, 'agent_update', SAMPLE.agent_update({ owner: OTHER }))
    expect(ledger.send(OWNER, 'agent_update', SAMPLE.agent_update()).code).toBe('ledger/not-owner')
    expect(ledger.send(OTHER, 'agent_update', SAMPLE.agent_update()).code).toBe('success')
  })

  it('fails for the first of its reasons: unknown, not the owner, no payout account', () => {
    const ledger = registered()
    const homeless = SAMPLE.agent_update({ payout: STRANGER })
    const unknown = { ...homeless, agentId: agentId('nobody') }
    expect(ledger.send(OTHER, 'agent_update', unknown).code).toBe('ledger/agent-unknown')
    expect(ledger.send(OTHER, 'agent_update', homeless).code).toBe('ledger/not-owner')
    for (const sender of [PAYOUT, SETTLER]) {
      expect(ledger.send(sender, 'agent_update', homeless).code).toBe('ledger/not-owner')
    }
    expect(ledger.send(OWNER, 'agent_update', homeless).code).toBe('ledger/payout-no-account')
  })
})

describe('service_publish', () => {
  it('creates a service at its own price from the first epoch on', () => {
    const { agentId: agent, serviceId: service, ...fields } = SAMPLE.service_publish()
    expect(published().get(SERVICES, { agentId: agent, serviceId: service })).toEqual({
      ...{ version: 1, retired: false, publishedAt: 2, ...fields },
      ...{ previousPriceUsdMicros: 20_000n, previousPriceLastEpoch: 0 },
    })
  })

  it('fails for an unknown agent and for any account but the owner', () => {
    const ledger = registered()
    const unknown = SAMPLE.service_publish({ agentId: agentId('nobody') })
    expect(ledger.send(OWNER, 'service_publish', unknown).code).toBe('ledger/agent-unknown')
    expect(ledger.send(SETTLER, 'service_publish', SAMPLE.service_publish()).code).toBe('ledger/not-owner')
  })

  it('again replaces the service and lets it take invokes once more', () => {
    const ledger = published()
    ledger.send(OWNER, 'service_retire', SAMPLE.service_retire())
    expect(ledger.get(SERVICES, NAME)?.retired).toBe(true)
    ledger.send(OWNER, 'service_publish', SAMPLE.service_publish({ name: 'New', capability: 9 }))
    expect(ledger.get(SERVICES, NAME)).toMatchObject({ retired: false, name: 'New', capability: 9, publishedAt: 2 })
  })

  it('changes the price at the next epoch: the price of the block’s epoch counts to its end', () => {
    const ledger = published()
    ledger.advanceTo(45)
    ledger.send(OWNER, 'service_publish', SAMPLE.service_publish({ priceUsdMicros: 30_000n }))
    const service = ledger.get(SERVICES, NAME)!
    expect(service).toMatchObject({
      previousPriceUsdMicros: 20_000n,
      previousPriceLastEpoch: 2,
      priceUsdMicros: 30_000n,
    })
    expect([0, 1, 2, 3, 4].map((epoch) => priceInEpoch(service, epoch))).toEqual([
      ...[20_000n, 20_000n, 20_000n, 30_000n, 30_000n],
    ])
  })

  it('twice in an epoch still honours the price that the epoch began with', () => {
    const ledger = published()
    ledger.advanceTo(45)
    ledger.send(OWNER, 'service_publish', SAMPLE.service_publish({ priceUsdMicros: 30_000n }))
    ledger.send(OWNER, 'service_publish', SAMPLE.service_publish({ priceUsdMicros: 40_000n }))
    const service = ledger.get(SERVICES, NAME)!
    expect([2, 3].map((epoch) => priceInEpoch(service, epoch))).toEqual([20_000n, 40_000n])
    ledger.advanceTo(60)
    ledger.send(OWNER, 'service_publish', SAMPLE.service_publish({ priceUsdMicros: 50_000n }))
    const later = ledger.get(SERVICES, NAME)!
    expect([3, 4].map((epoch) => priceInEpoch(later, epoch))).toEqual([40_000n, 50_000n])
  })

  it('first of all is never free, not even in epoch 0', () => {
    const service = published().get(SERVICES, NAME)!
    expect(priceInEpoch(service, 0)).toBe(20_000n)
  })
})

describe('service_retire', () => {
  it('fails for the first of its reasons: agent, owner, service, retired already', () => {
    const ledger = published()
    const retire = (sender: Address, change: Parameters<typeof SAMPLE.service_retire>[0] = {}) =>
      ledger.send(sender, 'service_retire', SAMPLE.service_retire(change)).code
    expect(retire(OTHER, { agentId: agentId('nobody') })).toBe('ledger/agent-unknown')
    expect(retire(OTHER)).toBe('ledger/not-owner')
    expect(retire(OWNER, { serviceId: serviceId('nothing') })).toBe('ledger/service-unknown')
    expect(retire(OWNER)).toBe('success')
    expect(retire(OWNER)).toBe('ledger/service-retired')
  })
})

describe('an insider', () => {
  it('is the owner, the payout or a settler', () => {
    const agent = registered().get(AGENTS, agentId('acme'))!
    expect([OWNER, PAYOUT, SETTLER, OTHER].map((address) => isInsider(agent, address))).toEqual([
      true,
      true,
      true,
      false,
    ])
  })
})
