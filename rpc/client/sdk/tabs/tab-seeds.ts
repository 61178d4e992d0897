import { fromHex, toHex } from '../../../../consensus/primitives/bytes.ts'
import { FarthingError } from '../errors.ts'
import { randomSeed } from './tab-key.ts'
import type { TabPurse } from './tab-purse.ts'
import type { OpeningNote } from './tab-types.ts'

/** A voucher's seed that no journal has: the wallet derives it. */
export async function seedOf(purse: TabPurse, opening: Pick<OpeningNote, 'seed' | 'nonce'>): Promise<Uint8Array> {
  if (opening.seed !== null) return fromHex(opening.seed)
  const { wallet, parts } = purse
  if (wallet.voucherSeed === undefined)
    throw new FarthingError('the voucher key of this tab is not known to this wallet', { code: 'key_unknown' })
  return wallet.voucherSeed(parts.facts.genesis, BigInt(opening.nonce))
}

/** A seed for the tab that the wallet opens with this nonce, and what the journal must keep of it. */
export async function newSeed(
  purse: TabPurse,
  nonce: bigint,
): Promise<{ readonly seed: Uint8Array; readonly kept: string | null }> {
  const { wallet, parts } = purse
  if (wallet.voucherSeed !== undefined)
    return { seed: await wallet.voucherSeed(parts.facts.genesis, nonce), kept: null }
  const seed = randomSeed()
  return { seed, kept: toHex(seed) }
}
