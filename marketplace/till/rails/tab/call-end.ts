import { resultHash } from '../../../../consensus/ledger/receipt.ts'
import { type Amount, amount, mulDivUp, ZERO } from '../../../../consensus/primitives/amount.ts'
import { ZERO_HEX_32 } from '../../../../consensus/primitives/bytes.ts'
import { faultMessage } from '../../../../consensus/primitives/fault.ts'
import type { Hash } from '../../../../consensus/primitives/ids.ts'
import type { Result } from '../../../../consensus/primitives/result.ts'
import { encodeText } from '../../../../consensus/primitives/text.ts'
import type { ServiceDefinition } from '../../../services/service.ts'
import type { EndedTabCall, ReservedTabCall } from './tab-store.ts'

interface EndFacts {
  readonly definition: ServiceDefinition | undefined
  readonly nowMs: number
}

/** What is written of a call whose work has ended. */
export function endOf(call: ReservedTabCall, outcome: Result<string>, { definition, nowMs }: EndFacts): EndedTabCall {
  if (!outcome.ok) {
    const { code } = outcome.fault
    const failed = { charge: ZERO, result: null, resultHash: ZERO_HEX_32 as Hash }
    return { call, ...failed, reason: code, message: faultMessage(outcome.fault), finishedAtMs: nowMs }
  }
  const json = outcome.value
  const charge = chargeOf(call, definition, json)
  const delivered = { charge, result: json, resultHash: resultHash(encodeText(json)) }
  return { call, ...delivered, reason: null, message: null, finishedAtMs: nowMs }
}

/** Never more than the price that was reserved. */
function chargeOf(
  { price }: ReservedTabCall,
  definition: Pick<ServiceDefinition, 'usedOnTab'> | undefined,
  json: string,
): Amount {
  const most = amount(BigInt(price))
  const used = definition?.usedOnTab?.(JSON.parse(json))
  return used === undefined || used.times >= used.of ? most : amount(mulDivUp(most, used.times, used.of))
}
