import type { Fault } from './fault.ts'

/** Outcome of work on untrusted input: a value, or the fault that says why there is none. */
export type Result<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly fault: Fault }

/** A success. */
export function ok<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value }
}

/** A refusal. */
export function fail(fault: Fault): { readonly ok: false; readonly fault: Fault } {
  return { ok: false, fault }
}
