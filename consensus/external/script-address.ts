import { decodeBase58Check } from './base58.ts'
import { bytesOfGroups, decodeBech32 } from './bech32.ts'
import { type Judgement, refuse } from './judgement.ts'

/** What an output of Bitcoin or Litecoin requires of its spender. */
export type ScriptKind = 'p2pkh' | 'p2sh' | 'p2wpkh' | 'p2wsh' | 'p2tr'

/** `prefix` is that of bech32; `kinds` is by base58check version byte. */
export interface ScriptNetwork {
  readonly prefix: string
  readonly kinds: ReadonlyMap<number, ScriptKind>
  /** Known version bytes that are refused, with the reason. */
  readonly refused: ReadonlyMap<number, string>
}

/** Bitcoin, main network. */
export const BITCOIN: ScriptNetwork = {
  prefix: 'bc',
  kinds: new Map([
    [0x00, 'p2pkh'],
    [0x05, 'p2sh'],
  ]),
  refused: new Map(),
}

/** Litecoin, main network. */
export const LITECOIN: ScriptNetwork = {
  prefix: 'ltc',
  kinds: new Map([
    [0x30, 'p2pkh'],
    [0x32, 'p2sh'],
  ]),
  refused: new Map([[0x05, 'a 3... address could be of Bitcoin, its M... form is the one taken here']]),
}

const HASH_BYTES = 20

/** Checks a text by the network's grammar: bech32 if it begins with the lower-case prefix, else base58check. */
export function judgeScriptAddress(network: ScriptNetwork, text: string): Judgement<ScriptKind> {
  return text.startsWith(`${network.prefix}1`) ? judgeSegwit(network, text) : judgeBase58Check(network, text)
}

function judgeBase58Check({ prefix, kinds, refused }: ScriptNetwork, text: string): Judgement<ScriptKind> {
  const content = decodeBase58Check(text)
  if (content === undefined) {
    // Only after base58check failed: a valid base58check address of Litecoin may begin with `LTC1`.
    const upperCase = text.slice(0, prefix.length + 1).toLowerCase() === `${prefix}1`
    return refuse(upperCase ? 'bech32 is written in lower case' : `neither ${prefix}1... nor base58 with its checksum`)
  }
  if (content.length !== 1 + HASH_BYTES) return refuse('not a version byte and 20 bytes')
  const version = content[0] as number
  const kind = kinds.get(version)
  return kind === undefined ? refuse(refused.get(version) ?? 'a version byte of another network') : { kind }
}

/** Segregated witness (BIP-141, 173, 350): version 0 is bech32 of 20 or 32 bytes, version 1 bech32m of 32 bytes. */
function judgeSegwit({ prefix }: ScriptNetwork, text: string): Judgement<ScriptKind> {
  const decoded = decodeBech32(prefix, text)
  if (decoded === undefined) return refuse('bad bech32 characters or checksum')
  const [version, ...groups] = decoded.groups
  if (version === undefined) return refuse('no witness version')
  // Until a fork gives a witness version rules, anyone may spend its outputs.
  if (version > 1) return refuse('a witness version that is not in use')
  if (decoded.checksum !== (version === 0 ? 'bech32' : 'bech32m')) {
    return refuse('witness version 0 takes bech32, version 1 bech32m')
  }
  const program = bytesOfGroups(groups)
  if (program === undefined) return refuse('bad padding')
  const kind = segwitKind(version, program.length)
  return kind === undefined ? refuse('a witness program of another length') : { kind }
}

function segwitKind(version: number, length: number): ScriptKind | undefined {
  if (version === 1) return length === 32 ? 'p2tr' : undefined
  if (length === 32) return 'p2wsh'
  return length === HASH_BYTES ? 'p2wpkh' : undefined
}
