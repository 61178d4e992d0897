import { hex, tagged, unhex, ZERO32 } from './bytes.ts'
import { agentKey, Ledger, NO_STATISTICS, type Records, serviceKey } from './ledger.ts'
import type { ReferenceRules } from './params.ts'
import type { AGENT, ESCROW } from './schemas.ts'
import type { Value } from './ssz.ts'
import type { Payload, ReferenceTransaction } from './transactions.ts'

/** Outcome codes of transactions.md, section 4. */
export const CODE = {
  success: 0,
  noAccount: 2,
  insufficientBalance: 3,
  agentExists: 16,
  agentUnknown: 17,
  notOwner: 18,
  payoutNoAccount: 19,
  serviceUnknown: 20,
  serviceRetired: 21,
  closed: 32,
  foreign: 33,
  badOpener: 34,
} as const

/** Where a payload runs. */
interface Place {
  readonly ledger: Ledger
  readonly rules: ReferenceRules
  readonly height: number
  /** Position of the transaction in its block. */
  readonly index: number
  readonly sender: string
  readonly txid: string
}

type PayloadOf<K extends Payload['kind']> = Extract<Payload, { kind: K }>
type Agent = Value<typeof AGENT>
type Escrow = Value<typeof ESCROW>

function transfer({ ledger, sender }: Place, { to, amount, create }: PayloadOf<'transfer'>): number {
  if (ledger.accounts.of(sender).balance < amount) return CODE.insufficientBalance
  if (ledger.accounts.get(to) === undefined && !create) return CODE.noAccount
  ledger.debit(sender, amount)
  ledger.credit(to, amount, true)
  return CODE.success
}

function agentRegister({ ledger, sender, height }: Place, payload: PayloadOf<'agent_register'>): number {
  const id = agentKey(payload.agentId)
  if (ledger.agents.get(id) !== undefined) return CODE.agentExists
  if (ledger.accounts.get(payload.payout) === undefined) return CODE.payoutNoAccount
  ledger.agents.set(id, { ...payload, version: 1, owner: sender, registeredAt: height })
  return CODE.success
}

function agentUpdate({ ledger, sender }: Place, payload: PayloadOf<'agent_update'>): number {
  const id = agentKey(payload.agentId)
  const agent = ledger.agents.get(id)
  if (agent === undefined) return CODE.agentUnknown
  if (agent.owner !== sender) return CODE.notOwner
  if (ledger.accounts.get(payload.payout) === undefined) return CODE.payoutNoAccount
  ledger.agents.set(id, { ...payload, version: 1, registeredAt: agent.registeredAt })
  return CODE.success
}

function servicePublish(place: Place, payload: PayloadOf<'service_publish'>): number {
  const { ledger, sender, height, rules } = place
  const agent = ledger.agents.get(agentKey(payload.agentId))
  if (agent === undefined) return CODE.agentUnknown
  if (agent.owner !== sender) return CODE.notOwner
  const id = serviceKey(payload.agentId, payload.serviceId)
  const before = ledger.services.get(id)
  // Like an agent's registration height, the height of the first publication stays.
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

function serviceRetire({ ledger, sender }: Place, payload: PayloadOf<'service_retire'>): number {
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

function agentInvoke(place: Place, payload: PayloadOf<'agent_invoke'>): number {
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

/** Takes an escrow off the books; the caller of this says where its amount goes. */
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

type Entry = PayloadOf<'agent_receipt'>['entries'][number]

function settle({ ledger, sender, rules }: Place, { txId, outcome, opener }: Entry): number {
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

function run(place: Place, payload: Payload): { code: number; entries: number[] } {
  const plain = (code: number) => ({ code, entries: [] })
  switch (payload.kind) {
    case 'transfer':
      return plain(transfer(place, payload))
    case 'agent_register':
      return plain(agentRegister(place, payload))
    case 'agent_update':
      return plain(agentUpdate(place, payload))
    case 'service_publish':
      return plain(servicePublish(place, payload))
    case 'service_retire':
      return plain(serviceRetire(place, payload))
    case 'agent_invoke':
      return plain(agentInvoke(place, payload))
    case 'agent_receipt':
      return { code: CODE.success, entries: payload.entries.map((entry) => settle(place, entry)) }
  }
}

/**
 * Runs a payload on the records and gives its codes; the records are as before if it fails. The invariants that would
 * give code 1 are not asked here: {@link Ledger.audit} throws after the block if the rules above could break one.
 */
export function runPayload(
  records: Records,
  transaction: ReferenceTransaction,
  where: { readonly rules: ReferenceRules; readonly height: number; readonly index: number },
): { code: number; entries: number[] } {
  const trial: Records = new Map(records)
  const { body, payload, txid } = transaction
  const result = run({ ...where, ledger: new Ledger(trial), sender: body.sender, txid: hex(txid) }, payload)
  if (result.code === CODE.success) {
    records.clear()
    for (const [key, record] of trial) records.set(key, record)
  }
  return result
}
