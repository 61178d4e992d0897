import type { RegistryEntry } from '../contract/market.ts'
import { type Html, html } from './html.ts'

/** A service's state with its reason. */
export function stateMark({ available, unavailableReason }: RegistryEntry): Html {
  return available
    ? html`<span class="state">available</span>`
    : html`<span class="state off">unavailable: ${unavailableReason ?? 'no reason given'}</span>`
}

/** A figure with what it rests on, in a list of definitions. */
export function figure(name: string, value: string, basis: string): Html {
  return html`<div><dt>${name}</dt><dd>${value} <small>${basis}</small></dd></div>`
}

/** Time in the unit that reads best; the clock of the records doubles, so no more is known than this. */
export function durationText(ms: number | null): string {
  if (ms === null) return 'not known yet'
  return ms < 1_000 ? `${ms} ms` : `${Math.round(ms / 100) / 10} s`
}

/** A share as text, or that none is known. */
export function shareText(pct: string | null): string {
  return pct === null ? 'not known yet' : `${shortened(pct)} %`
}

/** A count with its noun. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

/** Two decimals do for people. */
function shortened(decimal: string): string {
  return String(Math.floor(Number(decimal) * 100) / 100)
}
