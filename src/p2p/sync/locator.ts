import type { Chain } from '../../../consensus/chain/chain.ts'
import type { BlockId } from '../../../consensus/primitives/ids.ts'
import { LOCATOR_MAX } from '../wire/messages.ts'

/** Ids of the best chain from the head down, ever farther apart, genesis last: whoever shares a block with us finds one. */
export function locatorOf({ database, ruleBook }: Pick<Chain, 'database' | 'ruleBook'>): readonly BlockId[] {
  const ids: BlockId[] = []
  for (let height = database.head.header.height, step = 1; height > 0 && ids.length < LOCATOR_MAX - 2; height -= step) {
    const id = database.idAt(height)
    if (id !== undefined) ids.push(id)
    if (ids.length > 4) step *= 2
  }
  return [...ids, ruleBook.genesis.block.id]
}

/** The locator behind the end of a branch that is being followed: the next page of it, or where its owner went instead. */
export function locatorBehind(tip: BlockId, locator: readonly BlockId[]): readonly BlockId[] {
  return [tip, ...locator.filter((id) => id !== tip)].slice(0, LOCATOR_MAX)
}
