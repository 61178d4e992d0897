import { type AccountKeys, addressOfKeys, decodeAccountKeys } from '../../../consensus/crypto/account-keys.ts'
import { formatAddress, parseAddress } from '../../../consensus/crypto/address.ts'
import { fromHex } from '../../../consensus/primitives/bytes.ts'
import { fault, faultMessage } from '../../../consensus/primitives/fault.ts'
import type { Address } from '../../../consensus/primitives/ids.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import { readSignedText, type SignedText, textJob } from '../../../consensus/tx/signed-text.ts'
import { placeOf, takesWallets, type Visit } from './visit.ts'

const CUT_OFF = 'the pasted JSON is incomplete: copy all of it, from {"address" to the last }'

/** The address, as text, of the wallet that signed the challenge. The fault is `chat/sign-in`. */
export function signerOf(visit: Visit, json: string): Result<string> {
  const { node, dashboard } = visit
  const { chain } = node
  if (!takesWallets(visit)) return refused('wallets do not sign in here')
  const pasted = json.trim()
  const signed = readSignedText(pasted)
  if (!signed.ok) return refused(isCutOff(pasted) ? CUT_OFF : faultMessage(signed.fault))
  const nonce = dashboard.challenges.check(placeOf(visit), signed.value.text)
  if (!nonce.ok) return nonce
  const prefix = chain.ruleBook.params.addressPrefix
  const address = parseAddress(prefix, signed.value.address)
  if (!address.ok) return refused(faultMessage(address.fault))
  const owner = formatAddress(prefix, address.value)
  if (dashboard.wallets !== 'all' && !dashboard.wallets.includes(owner))
    return refused('the operator has not named this wallet')
  const keys = keysOf(visit, signed.value, address.value)
  if (!keys.ok) return keys
  const job = textJob(signed.value, keys.value, chain.network)
  if (!job.ok) return refused(faultMessage(job.fault))
  if (!dashboard.verify(job.value)) return refused('the signature is not good')
  const used = dashboard.challenges.use(nonce.value)
  return used.ok ? ok(owner) : used
}

function isCutOff(text: string): boolean {
  if (!text.startsWith('{') && !text.endsWith('}')) return false
  try {
    JSON.parse(text)
    return false
  } catch {
    return true
  }
}

/** The account's keys: the given ones, or those that the chain has seen. */
function keysOf({ node }: Visit, { keys }: SignedText, address: Address): Result<AccountKeys> {
  if (keys === null) {
    const seen = node.chain.keys.keysOf(address)
    return seen === undefined ? refused('"keys" is missing, and the chain has not seen them') : ok(seen)
  }
  const decoded = decodeAccountKeys(fromHex(keys))
  if (!decoded.ok) return refused(faultMessage(decoded.fault))
  return addressOfKeys(fromHex(keys)) === address ? decoded : refused('the keys are not those of the address')
}

function refused(reason: string): Result<never> {
  return fail(fault('chat/sign-in', { reason }))
}
