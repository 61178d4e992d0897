import { UNSEEN } from '../../rpc/discovery/plain-text.ts'

/**
 * What reaches the terminal. Nodes, peers, sellers and the chain write names, reasons and results: none of it may move a
 * cursor, turn the direction of a line, or stand in it unseen.
 */

/** Text as a line on a terminal may have it: each character that is not to be seen is a question mark. */
export function printable(text: string): string {
  return text.replace(UNSEEN, '?')
}

/** A value as JSON that a terminal may have. */
export function jsonText(value: unknown, indent?: number): string {
  return harmlessJson(JSON.stringify(value, null, indent) ?? 'null')
}

/** JSON as a terminal may have it, and with the same value: what is not to be seen is escaped. */
export function harmlessJson(json: string): string {
  // A bare line break stands between fields: within a text it is escaped already.
  return json.replace(UNSEEN, (character) => (character === '\n' ? character : escaped(character)))
}

/** A line of JSON for a program that shows what is in it: question marks for what JSON escapes, too, but for breaks and tabs. */
export function plainJson(line: string): string {
  return `${printable(line.trimEnd()).replace(/\\(u[0-9a-f]{4}|.)/g, (told) => (/[nt"\\/]$/.test(told) ? told : '?'))}\n`
}

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i))
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
}
