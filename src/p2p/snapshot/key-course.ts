import { KEYS } from '../../../consensus/chain/layout.ts'
import { addressOfKeys, decodeAccountKeys } from '../../../consensus/crypto/account-keys.ts'
import { ACCOUNTS } from '../../../consensus/ledger/account.ts'
import { fromHex, toHex } from '../../../consensus/primitives/bytes.ts'
import { decodeOwn } from '../../../consensus/primitives/codec.ts'
import type { Address } from '../../../consensus/primitives/ids.ts'
import type { ReplyOf, RequestOf } from '../wire/messages.ts'
import { bytesOf, type Course, type Taken } from './course.ts'
import type { TakingDependencies } from './page-course.ts'
import { STAGES, type TakingMark, takingWrite } from './taking-mark.ts'

const NO_ADDRESS = '0'.repeat(64) as Address
/**
 * After so many keys of accounts that have signed nothing in this state, no more keys are fetched. A node that followed other branches has
 * a few; a liar can make up any number.
 */
const STRANGERS_MAX = 20_000

/**
 * Public keys of the accounts of a state, in the order of their addresses. Keys of accounts that have signed nothing in this state are left
 * out. A missing key cannot be noticed here; it is asked for when a transaction needs it.
 */
export class KeyCourse implements Course<'keyPages'> {
  readonly protocol = 'keyPages'
  bytes = 0
  readonly #parts: TakingDependencies
  #mark: TakingMark
  #after: Address | undefined
  #strangers = 0

  constructor(parts: TakingDependencies, mark: TakingMark) {
    this.#parts = parts
    this.#mark = mark
    this.#after = mark.begun ? (toHex(mark.after) as Address) : undefined
  }

  request(): RequestOf<'keyPages'> {
    return this.#requestAfter(this.#after)
  }

  following({ keys, done }: ReplyOf<'keyPages'>): RequestOf<'keyPages'> | undefined {
    const last = keys.at(-1)
    return last === undefined || done ? undefined : this.#requestAfter(addressOfKeys(last))
  }

  async take({ keys, done }: ReplyOf<'keyPages'>): Promise<Taken> {
    const writes = []
    let before = this.#after
    for (const encoded of keys) {
      const address = addressOfKeys(encoded)
      if ((before !== undefined && address <= before) || !decodeAccountKeys(encoded).ok) return 'bad-keys'
      before = address
      if (this.#hasSigned(address)) writes.push({ key: KEYS.keys(address), value: encoded })
      else this.#strangers += 1
      if (this.#parts.pacer.due()) await this.#parts.pacer.pause()
    }
    if (keys.length === 0 && !done) return 'bad-keys'
    if (before !== undefined) {
      this.#mark = { ...this.#mark, stage: STAGES.keys, after: fromHex(before), begun: true }
      await this.#parts.staging.batch([...writes, takingWrite(this.#mark)], () => {})
      this.bytes += bytesOf(writes)
      this.#after = before
    }
    return done || this.#strangers > STRANGERS_MAX ? 'done' : 'more'
  }

  #hasSigned(address: Address): boolean {
    const account = this.#parts.staging.get(KEYS.state(ACCOUNTS.key(address)))
    return account !== undefined && decodeOwn(ACCOUNTS.codec, account).nonce > 0n
  }

  #requestAfter(after: Address | undefined): RequestOf<'keyPages'> {
    return { after: after ?? NO_ADDRESS, first: after === undefined }
  }
}
