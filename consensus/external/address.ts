import { decodeBase58 } from './base58.ts'
import { eip55 } from './eip55.ts'
import { type Judgement, refuse } from './judgement.ts'
import { BITCOIN, judgeScriptAddress, LITECOIN, type ScriptKind } from './script-address.ts'

/** All EVM networks share one. */
export type ExternalFormat = 'evm' | 'solana' | 'bitcoin' | 'litecoin'

/**
 * Kind of an address, as far as its text tells. An EVM address may be a key's or a contract's. A Solana address may be
 * a key's or that of an account that a program owns.
 */
export type ExternalAddressKind = 'eoa-or-contract' | 'ed25519-key' | ScriptKind

/** Longest text that is checked, in UTF-16 units; the longest real address has 63. */
export const EXTERNAL_ADDRESS_CHARS_MAX = 90

const JUDGES: Readonly<Record<ExternalFormat, (text: string) => Judgement<ExternalAddressKind>>> = {
  evm: judgeEvm,
  solana: judgeSolana,
  bitcoin: (text) => judgeScriptAddress(BITCOIN, text),
  litecoin: (text) => judgeScriptAddress(LITECOIN, text),
}

/**
 * Null if the text is a main-network address that can receive value, else a short English reason. Each address has
 * exactly one accepted text: two texts would be two values in consensus.
 * - evm: `0x` and 40 hex digits in the mixed case of EIP-55; all lower or all upper case only where EIP-55 gives just
 *   that. Not the zero address.
 * - solana: base58 of 32 bytes, not all zero (the system program cannot receive). They may be off the curve, as
 *   accounts of programs are.
 * - bitcoin: base58check with version 0x00 or 0x05; or `bc1` in lower case with witness version 0 and 20 or 32 bytes,
 *   or version 1 and 32 bytes.
 * - litecoin: base58check with version 0x30 or 0x32; or `ltc1` like `bc1`. Not 0x05, the old form of 0x32: Bitcoin uses
 *   it too.
 *
 * Never throws. {@link EXTERNAL_ADDRESS_CHARS_MAX} bounds the work.
 */
export function checkExternalAddress(format: ExternalFormat, text: string): string | null {
  const judgement = judge(format, text)
  return 'reason' in judgement ? judgement.reason : null
}

/** Undefined for every text that {@link checkExternalAddress} refuses. */
export function externalAddressKind(format: ExternalFormat, text: string): ExternalAddressKind | undefined {
  const judgement = judge(format, text)
  return 'kind' in judgement ? judgement.kind : undefined
}

function judge(format: ExternalFormat, text: string): Judgement<ExternalAddressKind> {
  return text.length > EXTERNAL_ADDRESS_CHARS_MAX
    ? refuse(`longer than ${EXTERNAL_ADDRESS_CHARS_MAX} characters`)
    : JUDGES[format](text)
}

function judgeEvm(text: string): Judgement<ExternalAddressKind> {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return refuse('not 0x and 40 hex digits')
  const digits = text.slice(2)
  if (/^0*$/.test(digits)) return refuse('the zero address')
  return eip55(digits.toLowerCase()) === digits
    ? { kind: 'eoa-or-contract' }
    : refuse('not in the upper and lower case of EIP-55')
}

const SOLANA_KEY_BYTES = 32

function judgeSolana(text: string): Judgement<ExternalAddressKind> {
  const bytes = decodeBase58(text)
  if (bytes === undefined) return refuse('not base58')
  if (bytes.length !== SOLANA_KEY_BYTES) return refuse('not 32 bytes')
  return bytes.every((byte) => byte === 0) ? refuse('the system program') : { kind: 'ed25519-key' }
}
