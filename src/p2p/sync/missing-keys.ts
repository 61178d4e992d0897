import type { Block } from '../../../consensus/block/block.ts'
import type { Chain } from '../../../consensus/chain/chain.ts'
import type { Address, BlockId } from '../../../consensus/primitives/ids.ts'
import { KEY_ADDRESSES_MAX } from '../wire/messages.ts'

/** Blocks of a branch that are looked through at most; what lies deeper shows in the next round. */
const BLOCKS_MAX = 256

/**
 * Addresses whose keys a block needs and the registry lacks, those of stored side blocks below it too: all of a branch at
 * once saves a round for each. At most so many as one request names.
 */
export function missingKeys({ keys, database }: Chain, block: Block): readonly Address[] {
  const missing = new Set<Address>()
  let at: Block | undefined = block
  for (let count = 0; at !== undefined && count < BLOCKS_MAX && missing.size < KEY_ADDRESSES_MAX; count++) {
    for (const { body } of at.transactions) {
      if (body.nonce !== 0n && keys.keysOf(body.sender) === undefined) missing.add(body.sender)
    }
    const parent: BlockId = at.header.parent
    at = database.side.has(parent) ? database.block(parent) : undefined
  }
  return [...missing].slice(0, KEY_ADDRESSES_MAX)
}
