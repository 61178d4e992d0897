import { fieldsOf } from '../../rpc/client/http.ts'
import { counted, factLines, rowLines, textFact } from './facts.ts'
import { cellOf, type Fields, itemsOf, unitsCell } from './reading.ts'

/** An agent for people: who it is, how its calls ended, and what it sells. */
export function agentLines(document: Fields): readonly string[] {
  const agent = fieldsOf(document.agent)
  const facts = factLines([
    ['Agent', textFact(agent.agentId)],
    ['Name', textFact(agent.name)],
    ['Endpoint', textFact(agent.endpoint)],
    ['Owner', textFact(agent.owner)],
    ['Payout', agent.payout === agent.owner ? undefined : textFact(agent.payout)],
    ['Settlers', settlersOf(agent)],
    ['Good at', Array.isArray(agent.capabilities) ? textFact(agent.capabilities.map(cellOf).join(', ')) : undefined],
    ['Since', `height ${cellOf(agent.registeredAt)}`],
    ['Calls', callsOf(agent)],
    ['Ended', endsOf(fieldsOf(agent.record))],
    ['On tabs', onTabsOf(fieldsOf(fieldsOf(agent.record).byTab))],
  ])
  const services = itemsOf(agent.services).map(({ serviceId, priceUsd, provenCalls, retired, name }) => [
    ...[cellOf(serviceId), retired === true ? 'retired' : cellOf(priceUsd), cellOf(provenCalls), cellOf(name)],
  ])
  return [...facts, ...rowLines(['SERVICE', 'USD', 'CALLS', 'NAME'], services)]
}

function settlersOf({ settlers, owner }: Fields): string | undefined {
  if (!Array.isArray(settlers) || settlers.every((one) => one === owner)) return undefined
  return textFact(settlers.map(cellOf).join(', '))
}

function callsOf({ provenCalls, provenVolume, distinctPayers }: Fields): string {
  return `${cellOf(provenCalls)} paid and delivered, ${unitsCell(provenVolume)} from ${counted(distinctPayers, 'payer')}`
}

/** Calls on tabs are part of all calls, and cheaper to fake, so what was burned for them stands beside. */
function onTabsOf({ provenCalls, failed, distinctPayers, burned }: Fields): string | undefined {
  if (provenCalls === undefined) return undefined
  const calls = `${cellOf(provenCalls)} of the calls from ${counted(distinctPayers, 'payer')}, ${unitsCell(burned)} burned`
  return typeof failed === 'number' && failed > 0 ? `${calls}; ${failed} failed` : calls
}

function endsOf({ delivered, failed, expired, successPct, p50Ms }: Fields): string {
  const quick = typeof p50Ms === 'number' ? `; half of them within ${p50Ms} ms` : ''
  const good = typeof successPct === 'string' ? ` (${successPct} %)` : ''
  return `${cellOf(delivered)} delivered${good}, ${cellOf(failed)} failed, ${cellOf(expired)} expired${quick}`
}
