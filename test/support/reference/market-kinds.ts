import { hex, tagged, unhex, ZERO32 } from './bytes.ts'
import { agentKey, type Ledger, NO_STATISTICS, serviceKey } from './ledger.ts'
import { CODE } from './outcome.ts'
import type { Fields } from './payloads.ts'
import type { Place } from './place.ts'
import type { AGENT, ESCROW } from './schemas.ts'
import type { Value } from './ssz.ts'

type Agent = Value<typeof AGENT>
type Escrow = Value<typeof ESCROW>

export function transfer({ ledger, sender }: Place, { to, amount, create }: Fields<'transfer'>): number {
  if (ledger.accounts.of(sender).balance < amount) return CODE.insufficientBalance
  if (ledger.accounts.get(to) === undefined && !create) return CODE.noAccount
  ledger.debit(sender, amount)
  ledger.credit(to, amount, true)
  return CODE.success
}

export function agentRegister({ ledger, sender, height }: Place, payload: Fields<'agent_register'>): number {
  const id = agentKey(payload.agentId)
  if (ledger.agents.get(id) !== undefined) return CODE.agentExists
  if (ledger.accounts.get(payload.payout) === undefined) return CODE.payoutNoAccount
  ledger.agents.set(id, { ...payload, version: 1, owner: sender, registeredAt: height })
  return CODE.success
}

export function agentUpdate({ ledger, sender }: Place, payload: Fields<'agent_update'>): number {
  const id = agentKey(payload.agentId)
  const agent = ledger.agents.get(id)
  if (agent === undefined) return CODE.agentUnknown
  if (agent.owner !== sender) return CODE.notOwner
  if (ledger.accounts.get(payload.payout) === undefined) return CODE.payoutNoAccount
  ledger.agents.set(id, { ...payload, version: 1, registeredAt: agent.registeredAt })
  return CODE.success
}

export function servicePublish(place: Place, payload: Fields<'service_publish'>): number {
  const { ledger, sender, height, rules } = place
  const agent = ledger.agents.get(agentKey(payload.agentId))
  if (agent === undefined) return CODE.agentUnknown
  if (agent.owner !== sender) return CODE.notOwner
  const id = serviceKey(payload.agentId, payload.serviceId)
  const before = ledger.services.get(id)
  // An update keeps the height of the first publication, as an agent keeps its registration height.
  const record = { ...payload, version: 1, retired: false, publishedAt: before?.publishedAt ?? height }
  if (before === undefined) {
    const previousPriceUsdMicros = payload.priceUsdMicros
    ledger.services.set(id, { ...record, previousPriceUsdMicros, previousPriceLastEpoch: 0 })
    return CODE.success
  }
  const epoch = Math.floor(height / rules.market.epochBlocks)
  if (payload.priceUsdMicros === before.priceUsdMicros) {
    const { previousPriceUsdMicros, previousPriceLastEpoch } = before
    ledger.services.set(id, { ...record, previousPriceUsdMicros, previousPriceLastEpoch })
    return CODE.success
  }
  const counts = epoch <= before.previousPriceLastEpoch ? before.previousPriceUsdMicros : before.priceUsdMicros
  ledger.services.set(id, { ...record, previousPriceUsdMicros: counts, previousPriceLastEpoch: epoch })
  return CODE.success
}

export function serviceRetire({ ledger, sender }: Place, payload: Fields<'service_retire'>): number {
  const agent = ledger.agents.get(agentKey(payload.agentId))
  if (agent === undefined) return CODE.agentUnknown
  if (agent.owner !== sender) return CODE.notOwner
  const id = serviceKey(payload.agentId, payload.serviceId)
  const service = ledger.services.get(id)
  if (service === undefined) return CODE.serviceUnknown
  if (service.retired) return CODE.serviceRetired
  ledger.services.set(id, { ...service, retired: true })
  return CODE.success
}

const settles = (agent: Agent, who: string): boolean => agent.owner === who || agent.settlers.includes(who)

export function agentInvoke(place: Place, payload: Fields<'agent_invoke'>): number {
  const { ledger, sender, height, index, txid } = place
  const agent = ledger.agents.get(agentKey(payload.agentId))
  if (agent === undefined) return CODE.agentUnknown
  const service = ledger.services.get(serviceKey(payload.agentId, payload.serviceId))
  if (service === undefined) return CODE.serviceUnknown
  if (service.retired) return CODE.serviceRetired
  if (ledger.accounts.of(sender).balance < payload.amount) return CODE.insufficientBalance
  ledger.debit(sender, payload.amount)
  ledger.escrows.set(txid, {
    ...payload,
    caller: sender,
    payout: agent.payout,
    insider: settles(agent, sender) || agent.payout === sender,
    minedAt: height,
    index,
    deadline: height + payload.term,
  })
  ledger.moveTotals(payload.amount, 1)
  return CODE.success
}

/** Removes an escrow from the books. The calling function moves its amount. */
function close(ledger: Ledger, txid: string, escrow: Escrow): void {
  ledger.escrows.delete(txid)
  ledger.moveTotals(-escrow.amount, -1)
}

/** Gives an escrow back to its caller. */
export function refund(ledger: Ledger, txid: string, escrow: Escrow): void {
  close(ledger, txid, escrow)
  ledger.credit(escrow.caller, escrow.amount)
}

function countCall(ledger: Ledger, { agentId, serviceId, caller, amount }: Escrow): void {
  const payers = ledger.markPayer(caller, agentId, serviceId) ? 1 : 0
  const grow = (table: Ledger['agentStatistics'], id: string): void => {
    const old = table.get(id) ?? NO_STATISTICS
    table.set(id, { calls: old.calls + 1, volume: old.volume + amount, payers: old.payers + payers })
  }
  grow(ledger.agentStatistics, agentKey(agentId))
  grow(ledger.serviceStatistics, serviceKey(agentId, serviceId))
}

type Entry = Fields<'agent_receipt'>['entries'][number]

export function settle({ ledger, sender, rules }: Place, { txId, outcome, opener }: Entry): number {
  const escrow = ledger.escrows.get(txId)
  if (escrow === undefined) return CODE.closed
  if (!settles(ledger.agents.of(agentKey(escrow.agentId)), sender)) return CODE.foreign
  if (outcome === 1) {
    refund(ledger, txId, escrow)
    return CODE.success
  }
  if (escrow.redeemLock !== ZERO32 && hex(tagged('redeem-lock', unhex(opener))) !== escrow.redeemLock)
    return CODE.badOpener
  close(ledger, txId, escrow)
  const divisor = rules.market.deliveredBurnDivisor
  const burned = (escrow.amount + divisor - 1n) / divisor
  ledger.burn(burned)
  ledger.credit(escrow.payout, escrow.amount - burned)
  if (!escrow.insider) countCall(ledger, escrow)
  return CODE.success
}
