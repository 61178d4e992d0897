import { describe, expect, it } from 'vitest'
import { singleKey } from '../../../../consensus/crypto/account-keys.ts'
import type { SigningNetwork } from '../../../../consensus/crypto/signing.ts'
import { verifyJob } from '../../../../consensus/crypto/verifier.ts'
import type { BlockId } from '../../../../consensus/primitives/ids.ts'
import { signText } from '../../../../consensus/tx/sign.ts'
import {
  readSignedText,
  SIGNED_TEXT_CHARS_MAX,
  type SignedText,
  textJob,
} from '../../../../consensus/tx/signed-text.ts'
import { NATIVE_BACKEND } from '../../../../src/crypto/native-backend.ts'
import { twoOfThree } from '../../../support/signed-texts.ts'
import { steadyWallet } from '../../../support/steady-keys.ts'

const NETWORK: SigningNetwork = { chainId: 1, genesis: 'ab'.repeat(32) as BlockId }
const OTHER: SigningNetwork = { chainId: 1, genesis: 'ac'.repeat(32) as BlockId }
const SIGNER = steadyWallet(1)
const HERE = { network: NETWORK, prefix: 'dfar' }

/** Whether the signatures are valid for these keys. `misfit` if they do not even fit them. */
function judged(signed: SignedText, keys = SIGNER.keys, network = NETWORK): boolean | 'misfit' {
  const job = textJob(signed, keys, network)
  return job.ok ? verifyJob(NATIVE_BACKEND, job.value) : 'misfit'
}

describe('a signed text', () => {
  it('is good for its own text, keys and network, and for nothing else', async () => {
    const signed = await signText('yes', SIGNER, HERE)
    expect(judged(signed)).toBe(true)
    expect(judged({ ...signed, text: 'yes ' })).toBe(false)
    expect(judged(signed, steadyWallet(2).keys)).toBe(false)
    expect(judged(signed, SIGNER.keys, OTHER)).toBe(false)
  })

  it('comes back from its JSON, signature alone in hex or in a list', async () => {
    const signed = await signText('"quoted"\nand more: ü €', SIGNER, HERE)
    expect(readSignedText(JSON.stringify(signed))).toEqual({ ok: true, value: signed })
    const bare = { ...signed, signature: signed.signature[0]?.bytes }
    expect(readSignedText(JSON.stringify(bare))).toEqual({ ok: true, value: signed })
    const { keys: _, ...keyless } = signed
    expect(readSignedText(JSON.stringify(keyless))).toEqual({ ok: true, value: { ...signed, keys: null } })
  })

  it('of a policy holds as many signatures as it wants, in the order of its keys', async () => {
    const signer = twoOfThree(1, 2, 3)
    const signed = await signText('both of us', signer, HERE)
    expect(signed.signature.map(({ keyIndex }) => keyIndex)).toEqual([0, 1])
    expect(judged(signed, signer.keys)).toBe(true)
    expect(judged({ ...signed, signature: signed.signature.toReversed() }, signer.keys)).toBe('misfit')
    expect(judged({ ...signed, signature: signed.signature.slice(0, 1) }, signer.keys)).toBe('misfit')
    const twice = [signed.signature[0], signed.signature[0]] as SignedText['signature']
    expect(judged({ ...signed, signature: twice }, signer.keys)).toBe('misfit')
    const swapped = signed.signature.map(({ bytes }, i) => ({
      keyIndex: i,
      bytes: signed.signature[1 - i]?.bytes ?? bytes,
    }))
    expect(judged({ ...signed, signature: swapped }, signer.keys)).toBe(false)
  })

  it('is no signature of the one key of a policy, nor the other way round', async () => {
    const signed = await signText('mine', SIGNER, HERE)
    const [key] = SIGNER.keys.keys as readonly [(typeof SIGNER.keys.keys)[number]]
    expect(judged(signed, singleKey(key))).toBe(true)
    expect(judged(signed, { scheme: 3, threshold: 1, keys: [key] })).toBe(false)
  })
})

describe('JSON that is no signed text', () => {
  const sound = { address: 'dfar1', text: 'x', signature: '00', keys: 'ab' }
  const fieldOf = (value: unknown): unknown => {
    const read = readSignedText(typeof value === 'string' ? value : JSON.stringify(value))
    return read.ok ? null : read.fault.detail.field
  }

  it('is told by the field that is wrong', () => {
    expect(fieldOf(sound)).toBeNull()
    for (const text of ['', '{', '[]', 'null', '7', '"text"']) expect(fieldOf(text)).toBe('signed text')
    expect(fieldOf({ ...sound, extra: 1 })).toBe('extra')
    for (const address of [undefined, 7, 'x'.repeat(201)]) expect(fieldOf({ ...sound, address })).toBe('address')
    for (const keys of ['', 'AB', 'abc', 7, 'ab'.repeat(100_000)]) expect(fieldOf({ ...sound, keys })).toBe('keys')
  })

  it('has text that is well-formed and not too long', () => {
    expect(fieldOf({ ...sound, text: 'x'.repeat(SIGNED_TEXT_CHARS_MAX) })).toBeNull()
    expect(fieldOf({ ...sound, text: 'x'.repeat(SIGNED_TEXT_CHARS_MAX + 1) })).toBe('text')
    expect(fieldOf('{"address":"a","text":"\\ud800","signature":"00"}')).toBe('text')
    expect(fieldOf({ ...sound, text: 7 })).toBe('text')
  })

  it('has one to eight signatures', () => {
    const one = { keyIndex: 0, bytes: '00' }
    expect(fieldOf({ ...sound, signature: Array(8).fill(one) })).toBeNull()
    const wrong = [
      undefined,
      '',
      'xy',
      [],
      Array(9).fill(one),
      [null],
      [{ ...one, keyIndex: -1 }],
      [{ ...one, keyIndex: 0.5 }],
    ]
    for (const signature of [...wrong, [{ keyIndex: 0 }], [{ ...one, bytes: 'ab'.repeat(4_000) }]]) {
      expect(fieldOf({ ...sound, signature })).toBe('signature')
    }
  })
})
