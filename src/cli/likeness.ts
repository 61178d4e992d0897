import { likest } from '../../consensus/primitives/likeness.ts'

/** Common words, with the commands that they most likely mean. */
const SYNONYMS: ReadonlyMap<string, readonly string[]> = new Map([
  ['price', ['services', 'swap']],
  ['prices', ['services', 'swap']],
  ['quote', ['call', 'swap']],
  ['buy', ['call', 'swap']],
  ['pay', ['call', 'wallet send']],
  ['trade', ['swap']],
  ['exchange', ['swap']],
  ['send', ['wallet send', 'token transfer']],
  ['transfer', ['wallet send', 'token transfer']],
  ['balance', ['wallet balance', 'wallet holdings']],
  ['transaction', ['tx']],
  ['settings', ['config print']],
  ['run', ['start']],
])

/** The commands that a mistyped word most likely meant, from the likeliest on. */
export function likestCommands(mistyped: string, names: readonly string[], most: number): readonly string[] {
  const meant = SYNONYMS.get(mistyped.toLowerCase())?.filter((name) => names.includes(name)) ?? []
  return meant.length > 0 ? meant.slice(0, most) : likest(mistyped, names, most)
}
