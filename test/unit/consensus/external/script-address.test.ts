import { describe, expect, it } from 'vitest'
import {
  BITCOIN,
  judgeScriptAddress,
  LITECOIN,
  type ScriptKind,
} from '../../../../consensus/external/script-address.ts'
import { loadVectors } from '../../../support/vectors.ts'

interface AddressVector {
  readonly format: string
  readonly name: string
  readonly text: string
  readonly kind: ScriptKind | null
}

const { addresses } = loadVectors<{ addresses: readonly AddressVector[] }>('external-addresses.json', {
  addresses: 382,
  transactionIds: 65,
})
const NETWORKS = { bitcoin: BITCOIN, litecoin: LITECOIN }
const isScript = (format: string): format is keyof typeof NETWORKS => format in NETWORKS
const valid = addresses.filter(({ format, kind }) => isScript(format) && kind !== null)

const PRINTABLE = Array.from({ length: 95 }, (_, i) => String.fromCharCode(0x20 + i))

function kindOf(format: string, text: string): ScriptKind | undefined {
  const judgement = judgeScriptAddress(format === 'bitcoin' ? BITCOIN : LITECOIN, text)
  return 'kind' in judgement ? judgement.kind : undefined
}

/** Every typing slip of a text: one character replaced, left out, doubled or swapped with the next. */
function* slips(text: string): Generator<string> {
  for (let at = 0; at < text.length; at++) {
    const [before, after] = [text.slice(0, at), text.slice(at + 1)]
    for (const character of PRINTABLE) if (character !== text[at]) yield before + character + after
    yield before + after
    yield before + text[at] + text[at] + after
    if (after !== '' && after[0] !== text[at]) yield before + after[0] + text[at] + after.slice(1)
  }
}

describe('addresses of Bitcoin and Litecoin', () => {
  it('are checked here in both forms', () => {
    expect(valid.length).toBe(32)
    expect(valid.filter(({ kind }) => kind === 'p2pkh' || kind === 'p2sh').length).toBe(18)
  })

  it.for(valid)('$format, $name: every slip of the hand is refused', ({ format, text, kind }) => {
    expect(kindOf(format, text)).toBe(kind)
    let slipped = 0
    for (const changed of slips(text)) {
      if (kindOf(format, changed) !== undefined) expect.unreachable(`${changed} for ${text}`)
      slipped++
    }
    expect(slipped).toBeGreaterThan(95 * text.length)
  })
})

describe('texts that look like the other form', () => {
  const base58LikeBech32 = addresses.find(({ name }) => name === 'base58 that begins like bech32')?.text as string

  it('base58check may begin like bech32 in upper case', () => {
    expect(base58LikeBech32.startsWith('LTC1')).toBe(true)
    expect(judgeScriptAddress(LITECOIN, base58LikeBech32)).toEqual({ kind: 'p2pkh' })
    expect(judgeScriptAddress(LITECOIN, base58LikeBech32.toLowerCase())).toEqual({
      reason: 'bad bech32 characters or checksum',
    })
  })

  it('letters that only lower-casing makes ASCII are no prefix', () => {
    // U+212A, the Kelvin sign, is k in lower case; U+0130 becomes two characters.
    for (const text of ['b\u212a1', '\u0130tc1qw508d6q', '\u212atc1'])
      expect(judgeScriptAddress(LITECOIN, text)).toEqual({ reason: 'neither ltc1... nor base58 with its checksum' })
  })
})
