import { eip55 } from '../../../consensus/external/eip55.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import { type RequestForm, unusable } from '../requests.ts'

/** An EVM address in EIP-55 spelling. A mixed-case input must already have the right checksum. */
export function readEvmAddress(text: string, form: RequestForm): Result<string> {
  const digits = /^0x([0-9a-fA-F]{40})$/.exec(text)?.[1]
  if (digits === undefined) return unusable('not 0x and 40 hex digits', form)
  const spelt = eip55(digits.toLowerCase())
  const hasNoCase = digits === digits.toLowerCase() || digits === digits.toUpperCase()
  if (!hasNoCase && digits !== spelt)
    return unusable('the checksum of the address is wrong: a character is mistyped', form)
  return ok(`0x${spelt}`)
}
