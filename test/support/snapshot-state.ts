import type { TestChain } from './chain.ts'
import { dumpStore } from './stores.ts'

/** What a snapshot must reproduce: records of the state root, pages of its tree, indexes over it, headers and their tree. */
export async function stateOf({ chain }: TestChain): Promise<ReadonlyMap<string, string>> {
  const { database, ruleBook } = chain
  const tables = ruleBook.modules.flatMap(({ tables }) => tables).filter(({ rooted }) => rooted)
  const indexes = ruleBook.indexes.filter((index) => 'changesOf' in index)
  const prefixes = [
    ...tables.map(({ prefix }) => `0a${prefix.toString(16).padStart(2, '0')}`),
    ...indexes.map(({ prefix }) => `0d${prefix.toString(16).padStart(2, '0')}`),
    ...['0b', '02', '09'],
  ]
  const shown = new Map<string, string>()
  for (const prefix of prefixes) {
    const entries = await dumpStore({
      ...database.store,
      entries: () => database.store.entries(Buffer.from(prefix, 'hex')),
    } as never)
    for (const [key, value] of entries) shown.set(key, value)
  }
  return shown
}
