import type { RegistryEntry } from '../contract/market.ts'
import { type Html, html } from './html.ts'

/** A service's state with its reason. */
export function stateMark({ available, unavailableReason }: RegistryEntry): Html {
  return available
    ? html`<span class="state">available</span>`
    : html`<span class="state off">unavailable</span> <small>${unavailableReason ?? 'no reason given'}</small>`
}

/** Text for an unknown value, in a paler style. */
export function unknownText(text: string): Html {
  return html`<span class="none">${text}</span>`
}

/** A figure with its basis, as an entry of a definition list. */
export function figure(name: string, value: string | Html, basis: string): Html {
  return html`<div><dt>${name}</dt><dd>${value} <small>${basis}</small></dd></div>`
}

/** One decimal is enough: the chain records times by powers of two. */
export function durationText(ms: number | null): string {
  if (ms === null) return 'not known yet'
  return ms < 1_000 ? `${ms} ms` : `${Math.round(ms / 100) / 10} s`
}

/** A share as text; `not known yet` without one. */
export function shareText(pct: string | null): string {
  return pct === null ? 'not known yet' : `${shortened(pct)} %`
}

/** A decimal with the digits of its whole part in groups of three, such as `10,441,238.39`. */
export function grouped(decimal: string): string {
  const [whole = '', fraction] = decimal.split('.')
  const groups = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  return fraction === undefined ? groups : `${groups}.${fraction}`
}

/** A count with its noun. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${grouped(String(count))} ${count === 1 ? one : many}`
}

/** A decimal, cut to two places. */
function shortened(decimal: string): string {
  return String(Math.floor(Number(decimal) * 100) / 100)
}
