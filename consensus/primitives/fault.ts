import type { FaultRow } from './fault-row.ts'
import { FAULT_TABLE, type FaultCode } from './fault-table.ts'

/** Plain values that survive JSON. */
export type FaultDetail = Readonly<Record<string, string | number | boolean | readonly string[] | null>>

/** A refusal as a value, never thrown: a stable code and the details of this case. */
export interface Fault {
  readonly code: FaultCode
  readonly detail: FaultDetail
}

const NO_DETAIL: FaultDetail = Object.freeze({})

/** Makes a fault. */
export function fault(code: FaultCode, detail: FaultDetail = NO_DETAIL): Fault {
  return Object.freeze({ code, detail })
}

/** Blame, retry and message of a code. */
export function faultRow(code: FaultCode): FaultRow {
  return FAULT_TABLE[code]
}

/** The fault as English text; a detail that is missing or null becomes `?`. */
export function faultMessage({ code, detail }: Fault): string {
  return FAULT_TABLE[code].says.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = detail[name]
    return Array.isArray(value) ? value.join(', ') : String(value ?? '?')
  })
}
