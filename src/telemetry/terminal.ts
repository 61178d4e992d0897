import { UNSEEN } from '../../rpc/discovery/plain-text.ts'

/**
 * Makes text safe for a terminal. Nodes, peers, sellers and the chain provide names, reasons and results. None of them
 * may move the cursor, reverse the text direction, or be invisible.
 */

/** Text for one terminal line. Unsafe characters become question marks. */
export function printable(text: string): string {
  return text.replace(UNSEEN, '?')
}

/** A value as JSON that is safe on a terminal. */
export function jsonText(value: unknown, indent?: number): string {
  return harmlessJson(JSON.stringify(value, null, indent) ?? 'null')
}

/** JSON made safe for a terminal without changing its value: unsafe characters are escaped. */
export function harmlessJson(json: string): string {
  // A bare line break separates fields. Within a text it is escaped already.
  return json.replace(UNSEEN, (character) => (character === '\n' ? character : escaped(character)))
}

/** A JSON line for a program that prints decoded texts: escaped unsafe characters become question marks too. */
export function plainJson(line: string): string {
  return `${printable(line.trimEnd()).replace(/\\(u[0-9a-f]{4}|.)/g, (told) => (/[nt"\\/]$/.test(told) ? told : '?'))}\n`
}

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i))
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
}
